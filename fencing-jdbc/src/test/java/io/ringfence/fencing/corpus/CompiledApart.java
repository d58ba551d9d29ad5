package io.ringfence.fencing.corpus;

import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Calls {@link FencedSql#compile}. Public, and in terms of the JDK only, for it is called from outside of its class loader.
 */
public final class CompiledApart implements Function<String, Map.Entry<String, List<Integer>>> {
    /** Creates one. */
    public CompiledApart() {}

    @Override
    public Map.Entry<String, List<Integer>> apply(String sql) {
        FencedSql fenced = FencedSql.compile(sql);
        return Map.entry(fenced.sql(), fenced.binds());
    }
}
