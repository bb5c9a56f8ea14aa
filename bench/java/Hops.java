import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;

/** W6: every handler hops to an executor: a thread of its own as the serial queue, the common pool. */
final class Hops {
    private static final ExecutorService SERIAL = Executors.newSingleThreadExecutor();
    /** As many threads as processors: the common pool has one less, and of two processors is not used. */
    private static final ForkJoinPool POOL =
        new ForkJoinPool(Math.max(2, Runtime.getRuntime().availableProcessors()));

    private static volatile int ran; // Written by one thread at a time.

    private Hops() {}

    private static Integer countOne(Integer value) {
        ran = ran + 1;
        return value;
    }

    private static void expectRan(int n, String workload) {
        Workload.expect(ran == n, workload);
        ran = 0;
    }

    static Workload serialChain() {
        return n -> chain(n, SERIAL);
    }

    static Workload poolChain() {
        return n -> chain(n, POOL);
    }

    private static void chain(int n, Executor executor) {
        CompletableFuture<Integer> first = new CompletableFuture<>();
        CompletableFuture<Integer> end = first;
        for (int i = 0; i < n; i++) {
            end = end.thenApplyAsync(Hops::countOne, executor);
        }
        first.complete(1);
        Workload.expect(end.join() == 1, "W6");
        expectRan(n, "W6");
    }

    /** The last one to be registered is the first one to run here, so all are waited for. */
    static Workload serialHandlers() {
        return n -> {
            CompletableFuture<Integer> promise = new CompletableFuture<>();
            CompletableFuture<?>[] handlers = new CompletableFuture<?>[n];
            for (int i = 0; i < n; i++) {
                handlers[i] = promise.thenApplyAsync(Hops::countOne, SERIAL);
            }
            promise.complete(1);
            for (CompletableFuture<?> handler : handlers) {
                handler.join();
            }
            expectRan(n, "W6c");
        };
    }
}
