import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/** CompletableFutures on the common pool. */
final class Pool {
    private static final double WARM_UP_SECONDS = 0.5; // The compilers have seen it all by then.
    private static final ForkJoinPool POOL = commonPool();
    private static final AtomicInteger RAN = new AtomicInteger();
    private static final Semaphore ALL_RAN = new Semaphore(0);
    private static final OperatingSystemMXBean SYSTEM =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private static long items;

    private Pool() {}

    /** With a thread for each processor, as other pools have; by default it has one fewer. */
    private static ForkJoinPool commonPool() {
        System.setProperty("java.util.concurrent.ForkJoinPool.common.parallelism",
            String.valueOf(Runtime.getRuntime().availableProcessors()));
        return ForkJoinPool.commonPool();
    }

    private static void expect(boolean right) {
        if (!right) {
            throw new AssertionError("the work was not done");
        }
    }

    private static void roundTrips(int n) {
        for (int i = 0; i < n; i++) {
            CompletableFuture.supplyAsync(RAN::incrementAndGet, POOL).join();
        }
        expect(RAN.getAndSet(0) == n);
    }

    private static void spawn(int n) {
        for (int i = 0; i < n; i++) {
            CompletableFuture.supplyAsync(() -> {
                int ran = RAN.incrementAndGet();
                if (ran == n) {
                    ALL_RAN.release();
                }
                return ran;
            }, POOL);
        }
    }

    private static void await(int n) {
        ALL_RAN.acquireUninterruptibly();
        expect(RAN.getAndSet(0) == n);
    }

    private static void batch(int n) {
        spawn(n);
        await(n);
    }

    private static void inside(int n) {
        CompletableFuture.runAsync(() -> spawn(n), POOL);
        await(n);
    }

    /** Returns how long it took, in nanoseconds. */
    private static double repeat(IntConsumer pass, int n, double seconds) {
        long begin = System.nanoTime();
        for (items = 0; System.nanoTime() - begin < seconds * 1e9; items += n) {
            pass.accept(n);
        }
        return System.nanoTime() - begin;
    }

    public static void main(String[] arguments) {
        Map<String, IntConsumer> workloads =
            Map.of("round-trip", Pool::roundTrips, "batch", Pool::batch, "inside", Pool::inside);
        IntConsumer pass = workloads.get(arguments[0]);
        int n = Integer.parseInt(arguments[1]);
        repeat(pass, n, WARM_UP_SECONDS);
        long used = SYSTEM.getProcessCpuTime(); // In steps of 10 ms.
        double elapsed = repeat(pass, n, Double.parseDouble(System.getenv("BENCH_SECONDS")));
        used = SYSTEM.getProcessCpuTime() - used;
        System.out.println("{\"ns_per_item\":" + elapsed / items
            + ",\"processor_ns_per_item\":" + (double) used / items + "}");
    }
}
