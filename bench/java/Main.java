import java.util.Map;

/**
 * Java's CompletableFuture: handlers run on the thread that completes it, or on an executor. Runs one
 * workload and prints the protocol's line (bench/README.md).
 */
final class Main {
    private static final Map<String, Workload> WORKLOADS = Map.ofEntries(
        Map.entry("W1", Inline.createResolveRelease()),
        Map.entry("W2", Inline.chain()),
        Map.entry("W3", Inline.thenOnSettled()),
        Map.entry("W4", Inline.manyHandlers()),
        Map.entry("W5", Inline.all()),
        Map.entry("W6a", Hops.serialChain()),
        Map.entry("W6b", Hops.poolChain()),
        Map.entry("W6c", Hops.serialHandlers()),
        Map.entry("W7", new Recursion()),
        Map.entry("W8", new RoundTrips()),
        Map.entry("W9", new Held()),
        Map.entry("W10", new Race()),
        Map.entry("W11", new Cancelling()));

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        int n = Integer.parseInt(arguments[1]);
        Line line = new Line(arguments[0], n);
        Workload workload = WORKLOADS.get(arguments[0]);
        if (workload == null) {
            line.put("unsupported", "not offered");
        } else {
            Measure.measure(workload, n, line);
        }
        System.out.println(line);
        System.exit(0); // Pools' threads may still be there.
    }
}
