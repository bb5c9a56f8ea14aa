// Freeing what a value stood for.

import CVow

func freeBox(_ box: BoxPointer, _ thread: ThreadPointer) {
    switch box.pointee.kind {
    case _ where box.isLate:
        let cls = box.part(LatePart.self).pointee.cls
        runForeign(thread) { cls.pointee.destroy(UnsafeMutableRawPointer(box.content)) }
        if let made = box.alreadyMade { vow_value(box.pointee.kind, made).release(thread) }
    case VOW_OBJECT:
        let object = box.part(ObjectPart.self).pointee
        if let lender = object.lender {
            lender.release(thread)
        } else if let destroy = box.cls?.pointee.destroy {
            runForeign(thread) { destroy(object.pointer) }
        }
    case VOW_LIST:
        for index in 0..<box.part(ListPart.self).pointee.count { box.items[index].release(thread) }
    case VOW_ERROR:
        box.part(ErrorPart.self).pointee.payload.release(thread)
    default:
        break
    }
    #if VOW_CHECKED
        box.pointee.seal = Seal.freed
    #endif
    giveMemoryBack(box, box.size)
}
