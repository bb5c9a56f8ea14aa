/** One workload, in the steps of bench/peers/common/peer.h. All get N; a pass handles N items. */
interface Workload {
    /** Before each pass, not timed. */
    default void prepare(int n) {}

    /** Timed, repeated; fails where its work was not done. */
    void pass(int n);

    /** After each pass, not timed. */
    default void clean(int n) {}

    /** W9: one pass, whose memory is measured before {@link #clean}. */
    default boolean isHeld() {
        return false;
    }

    /** A benchmark that does nothing is fast. */
    static void expect(boolean right, String what) {
        if (!right) {
            System.err.println("benchmark: " + what);
            Runtime.getRuntime().halt(1);
        }
    }
}
