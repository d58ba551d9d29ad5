package io.ringfence.fencing.jdbi;

import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.ExpectedRows;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.PreparedBatch;

/** The same without SQL objects. */
record FluentWrites(JdbiFence fence, Handle handle) implements JdbiWrites {

    private long run(JdbiFence by, FencingTokenSource source, String sql, Map<String, Object> parameters) {
        return by.on(handle, source).createUpdate(sql).bindMap(parameters).execute();
    }

    @Override
    public long update(FencingTokenSource source, String sql, Map<String, Object> parameters) {
        return run(fence, source, sql, parameters);
    }

    @Override
    public long keyless(FencingTokenSource source, String sql, Map<String, Object> parameters) {
        return run(JdbiFence.onColumn("fencing_token"), source, sql, parameters);
    }

    @Override
    public long two(FencingTokenSource source, String sql, Map<String, Object> parameters) {
        return run(fence.expecting(ExpectedRows.exactly(2)), source, sql, parameters);
    }

    @Override
    public long atLeastOne(FencingTokenSource source, String sql, Map<String, Object> parameters) {
        return run(fence.expecting(ExpectedRows.atLeastOne()), source, sql, parameters);
    }

    @Override
    public long any(FencingTokenSource source, String sql, Map<String, Object> parameters) {
        return run(fence.expecting(ExpectedRows.any()), source, sql, parameters);
    }

    @Override
    public long unchecked(FencingTokenSource source, String sql, Map<String, Object> parameters) {
        return run(fence.expecting(ExpectedRows.unchecked()), source, sql, parameters);
    }

    @Override
    public List<String> returning(FencingTokenSource source, String sql, Map<String, Object> parameters) {
        return fence.on(handle, source)
                .createQuery(sql)
                .bindMap(parameters)
                .mapTo(String.class)
                .list();
    }

    @Override
    public String generated(FencingTokenSource source, String sql, Map<String, Object> parameters) {
        return fence.on(handle, source)
                .createUpdate(sql)
                .bindMap(parameters)
                .executeAndReturnGeneratedKeys("status")
                .mapTo(String.class)
                .one();
    }

    @Override
    public int[] closeAll(FencingTokenSource source, List<Integer> ids) {
        PreparedBatch batch =
                fence.on(handle, source).prepareBatch("UPDATE invoice SET status = 'closed' WHERE id = :id");
        ids.forEach(id -> batch.bind("id", id).add());
        return batch.execute();
    }
}
