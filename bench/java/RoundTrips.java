import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** W8: each side completes a future and blocks on the other's. The second thread's are the upper half. */
final class RoundTrips implements Workload {
    private CompletableFuture<?>[] promises;

    @Override
    public void prepare(int n) {
        promises = Stream.generate(CompletableFuture::new).limit(2L * n)
            .toArray(CompletableFuture<?>[]::new);
    }

    @Override
    public void pass(int n) {
        Duel.run(n, this::ping, this::pong);
    }

    private void ping(int n) {
        for (int i = 0; i < n; i++) {
            promises[i].complete(null);
            promises[n + i].join();
        }
    }

    private void pong(int n) {
        for (int i = 0; i < n; i++) {
            promises[i].join();
            Workload.expect(promises[n + i].complete(null), "W8");
        }
    }
}
