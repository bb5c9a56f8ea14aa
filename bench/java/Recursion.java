import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * W7: each level begins from a queue on this thread. Without an executor it would begin in the handler of
 * the one above, on the stack of that one, and who uses this class does not write that.
 */
final class Recursion implements Workload {
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final Executor queue = tasks::add;
    private int ran;

    @Override
    public void pass(int n) {
        CompletableFuture<Integer> end = countDown(n);
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        Workload.expect(end.getNow(-1) == 0, "W7");
        Workload.expect(ran == n + 1, "W7: levels");
        ran = 0;
    }

    private CompletableFuture<Integer> countDown(int left) {
        return CompletableFuture.completedFuture(left).thenComposeAsync(this::level, queue);
    }

    private CompletableFuture<Integer> level(int left) {
        ran++;
        return left == 0 ? CompletableFuture.completedFuture(0) : countDown(left - 1);
    }
}
