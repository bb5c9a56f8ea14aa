import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** W9: many pending futures with a handler each; only what completes them is held. */
final class Held implements Workload {
    private List<CompletableFuture<Integer>> promises;
    private int ran;

    @Override
    public boolean isHeld() {
        return true;
    }

    @Override
    public void prepare(int n) {
        promises = new ArrayList<>(n);
    }

    @Override
    public void pass(int n) {
        for (int i = 0; i < n; i++) {
            CompletableFuture<Integer> promise = new CompletableFuture<>();
            promise.thenAccept(value -> ran++);
            promises.add(promise);
        }
    }

    @Override
    public void clean(int n) {
        promises.forEach(promise -> promise.complete(1));
        Workload.expect(ran == n, "W9");
    }
}
