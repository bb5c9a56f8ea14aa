import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/** Two threads that work against each other; as bench/peers/common/duel.c, but unpinned: Java cannot pin. */
final class Duel {
    /** How many items the two do between meetings, so that they stay side by side. */
    static final int STRIDE = 16;

    private static final CyclicBarrier GATE = new CyclicBarrier(2);
    private static final AtomicInteger[] SIDES = {new AtomicInteger(), new AtomicInteger()};
    private static IntConsumer work;
    private static int count;

    static {
        Thread thread = new Thread(() -> {
            while (true) {
                pass();
                work.accept(count);
                pass();
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private Duel() {}

    private static void pass() {
        try {
            GATE.await();
        } catch (InterruptedException | BrokenBarrierException exception) {
            throw new IllegalStateException(exception);
        }
    }

    /** Runs both at the same time, the first one here; returns when both have ended. */
    static void run(int n, IntConsumer first, IntConsumer second) {
        work = second;
        count = n;
        SIDES[0].set(0);
        SIDES[1].set(0);
        pass();
        first.accept(n);
        pass();
    }

    /** Both call it with the same rising number, from 0: neither goes on before the other is there. */
    static void meet(int side, int round) {
        SIDES[side].setRelease(round + 1);
        for (int looks = 0; SIDES[1 - side].getAcquire() <= round; looks++) {
            if (looks >= 1000) {
                Thread.yield(); // The other one may not be running.
            } else {
                Thread.onSpinWait();
            }
        }
    }
}
