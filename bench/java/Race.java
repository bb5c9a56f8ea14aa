import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** W10: one thread registers, the other one settles. */
final class Race implements Workload {
    private List<CompletableFuture<Integer>> promises;
    private final AtomicInteger ran = new AtomicInteger();

    @Override
    public void prepare(int n) {
        promises = new ArrayList<>(n);
        for (int i = 0; i < n; i++) {
            promises.add(new CompletableFuture<>());
        }
    }

    @Override
    public void pass(int n) {
        Duel.run(n, this::register, this::resolve);
        Workload.expect(ran.getAndSet(0) == n, "W10");
    }

    private void register(int n) {
        for (int i = 0; i < n; i++) {
            if (i % Duel.STRIDE == 0) {
                Duel.meet(0, i / Duel.STRIDE);
            }
            promises.get(i).thenApply(value -> {
                ran.getAndIncrement();
                return value;
            });
        }
    }

    private void resolve(int n) {
        for (int i = 0; i < n; i++) {
            if (i % Duel.STRIDE == 0) {
                Duel.meet(1, i / Duel.STRIDE);
            }
            promises.get(i).complete(1);
        }
    }
}
