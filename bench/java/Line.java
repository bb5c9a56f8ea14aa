import java.util.LinkedHashMap;
import java.util.Map;

/** The line that a peer prints; its keys are the protocol's (bench/README.md). */
final class Line {
    private final Map<String, Object> values = new LinkedHashMap<>();

    Line(String workload, int n) {
        put("workload", workload);
        put("n", n);
        put("harness", "loop in Java");
        put("compiler", System.getProperty("java.vm.name"));
        put("flags", System.getenv().getOrDefault("PEER_FLAGS", ""));
        put("version", System.getProperty("java.vm.version"));
    }

    void put(String key, Object value) {
        values.put(key, value);
    }

    /** None of the texts has a quotation mark or a backslash in it. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        values.forEach((key, value) -> {
            text.append(text.isEmpty() ? "{\"" : ",\"").append(key).append("\":");
            text.append(value instanceof String ? "\"" + value + "\"" : value.toString());
        });
        return text.append('}').toString();
    }
}
