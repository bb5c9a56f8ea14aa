import java.util.concurrent.CompletableFuture;

/** W1 to W5: handlers run inline, on one thread. */
final class Inline {
    private static int ran;
    /** Where futures go that nobody reads: what goes nowhere is never made. */
    private static CompletableFuture<Integer> last;

    /** Small numbers are shared objects in Java; larger ones would be counted as the benchmark's. */
    private static final Integer ONE = 1;

    private Inline() {}

    private static Integer countOne(Integer value) {
        ran++;
        return value;
    }

    private static void expectRan(int n, String workload) {
        Workload.expect(ran == n, workload);
        ran = 0;
    }

    static Workload createResolveRelease() {
        return n -> {
            for (int i = 0; i < n; i++) {
                CompletableFuture<Integer> promise = new CompletableFuture<>();
                last = promise;
                promise.complete(ONE);
            }
            Workload.expect(last.getNow(0) == ONE, "W1");
        };
    }

    static Workload chain() {
        return n -> {
            CompletableFuture<Integer> first = new CompletableFuture<>();
            CompletableFuture<Integer> end = first;
            for (int i = 0; i < n; i++) {
                end = end.thenApply(Inline::countOne);
            }
            first.complete(ONE);
            Workload.expect(end.getNow(0) == ONE, "W2");
            expectRan(n, "W2");
        };
    }

    static Workload thenOnSettled() {
        CompletableFuture<Integer> settled = CompletableFuture.completedFuture(ONE);
        return n -> {
            for (int i = 0; i < n; i++) {
                last = settled.thenApply(Inline::countOne);
            }
            expectRan(n, "W3");
        };
    }

    /** They run from the last to the first: that is this library's order. */
    static Workload manyHandlers() {
        return n -> {
            CompletableFuture<Integer> promise = new CompletableFuture<>();
            for (int i = 0; i < n; i++) {
                promise.thenApply(Inline::countOne);
            }
            promise.complete(ONE);
            expectRan(n, "W4");
        };
    }

    /** allOf says when, and the futures have the values. */
    static Workload all() {
        return n -> {
            @SuppressWarnings({"unchecked", "rawtypes"})
            CompletableFuture<Integer>[] promises = new CompletableFuture[n];
            for (int i = 0; i < n; i++) {
                promises[i] = new CompletableFuture<>();
            }
            CompletableFuture<Void> together = CompletableFuture.allOf(promises);
            for (CompletableFuture<Integer> promise : promises) {
                promise.complete(ONE);
            }
            Workload.expect(together.isDone(), "W5");
            int sum = 0;
            for (CompletableFuture<Integer> promise : promises) {
                sum += promise.join();
            }
            Workload.expect(sum == n, "W5: sum");
        };
    }
}
