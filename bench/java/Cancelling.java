import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** W11: cancels the link of each pending future, and the future: cancelling does not go up by itself. */
final class Cancelling implements Workload {
    private final List<CompletableFuture<Integer>> promises = new ArrayList<>();
    private final List<CompletableFuture<Integer>> links = new ArrayList<>();
    private int ran;

    @Override
    public void prepare(int n) {
        for (int i = 0; i < n; i++) {
            CompletableFuture<Integer> promise = new CompletableFuture<>();
            promises.add(promise);
            links.add(promise.thenApply(value -> ran++));
        }
    }

    @Override
    public void pass(int n) {
        for (int i = 0; i < n; i++) {
            Workload.expect(links.get(i).cancel(false) && promises.get(i).cancel(false), "W11");
        }
        promises.clear();
        links.clear();
        Workload.expect(ran == 0, "W11: a cancelled handler ran");
    }
}
