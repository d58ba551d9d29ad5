package io.ringfence.fencing.jdbi;

import io.ringfence.election.FencingTokenSource;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.sqlobject.SqlObject;
import org.jdbi.v3.sqlobject.SqlObjectPlugin;
import org.jdbi.v3.sqlobject.customizer.BindMap;
import org.jdbi.v3.sqlobject.customizer.Define;
import org.jdbi.v3.sqlobject.statement.GetGeneratedKeys;
import org.jdbi.v3.sqlobject.statement.SqlBatch;
import org.jdbi.v3.sqlobject.statement.SqlQuery;
import org.jdbi.v3.sqlobject.statement.SqlUpdate;

/** A SQL object that runs whatever statement it is given. */
interface StatementObject extends JdbiWrites, SqlObject {

    @Override
    @SqlUpdate("<sql>")
    long update(@Fenced FencingTokenSource source, @Define("sql") String sql, @BindMap Map<String, Object> parameters);

    @Override
    default long keyless(FencingTokenSource source, String sql, Map<String, Object> parameters) {
        return withHandle(handle -> Jdbi.create(handle.getConnection())
                .installPlugin(new SqlObjectPlugin())
                .installPlugin(JdbiFence.onColumn("fencing_token"))
                .withExtension(StatementObject.class, other -> other.update(source, sql, parameters)));
    }

    @Override
    @SqlUpdate("<sql>")
    long two(
            @Fenced(rows = Fenced.Rows.EXACTLY, exactly = 2) FencingTokenSource source,
            @Define("sql") String sql,
            @BindMap Map<String, Object> parameters);

    @Override
    @SqlUpdate("<sql>")
    long atLeastOne(
            @Fenced(rows = Fenced.Rows.AT_LEAST_ONE) FencingTokenSource source,
            @Define("sql") String sql,
            @BindMap Map<String, Object> parameters);

    @Override
    @SqlUpdate("<sql>")
    long any(
            @Fenced(rows = Fenced.Rows.ANY) FencingTokenSource source,
            @Define("sql") String sql,
            @BindMap Map<String, Object> parameters);

    @Override
    @SqlUpdate("<sql>")
    long unchecked(
            @Fenced(rows = Fenced.Rows.UNCHECKED) FencingTokenSource source,
            @Define("sql") String sql,
            @BindMap Map<String, Object> parameters);

    @Override
    @SqlQuery("<sql>")
    List<String> returning(
            @Fenced FencingTokenSource source, @Define("sql") String sql, @BindMap Map<String, Object> parameters);

    @Override
    @SqlUpdate("<sql>")
    @GetGeneratedKeys("status")
    String generated(
            @Fenced FencingTokenSource source, @Define("sql") String sql, @BindMap Map<String, Object> parameters);

    @Override
    @SqlBatch("UPDATE invoice SET status = 'closed' WHERE id = :ids")
    int[] closeAll(@Fenced FencingTokenSource source, List<Integer> ids);
}
