package io.ringfence.fencing.jdbi;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jdbi.v3.core.statement.HashPrefixSqlParser;
import org.jdbi.v3.sqlobject.config.UseSqlParser;
import org.jdbi.v3.sqlobject.config.UseTemplateEngine;
import org.jdbi.v3.sqlobject.customizer.Bind;
import org.jdbi.v3.sqlobject.customizer.BindBean;
import org.jdbi.v3.sqlobject.customizer.BindList;
import org.jdbi.v3.sqlobject.customizer.BindMap;
import org.jdbi.v3.sqlobject.customizer.BindMethods;
import org.jdbi.v3.sqlobject.customizer.Define;
import org.jdbi.v3.sqlobject.customizer.MaxRows;
import org.jdbi.v3.sqlobject.statement.BatchChunkSize;
import org.jdbi.v3.sqlobject.statement.GetGeneratedKeys;
import org.jdbi.v3.sqlobject.statement.SqlBatch;
import org.jdbi.v3.sqlobject.statement.SqlQuery;
import org.jdbi.v3.sqlobject.statement.SqlUpdate;
import org.jdbi.v3.sqlobject.statement.UseRowMapper;

/** What methods of SQL objects can look like. */
interface InvoiceObject {
    String CLOSE = "UPDATE invoice SET status = :status WHERE id = :id";
    String RETURNING = CLOSE + " RETURNING id, status";

    @SqlUpdate(CLOSE)
    int asInt(@Fenced Lease lease, String status, int id);

    @SqlUpdate(CLOSE)
    long asLong(@Fenced Lease lease, String status, int id);

    @SqlUpdate(CLOSE)
    boolean asBoolean(@Fenced Lease lease, String status, int id);

    @SqlUpdate(CLOSE)
    void asVoid(@Fenced Lease lease, String status, int id);

    @SqlUpdate(CLOSE)
    void named(@Bind("id") int number, @Fenced Lease lease, @Bind("status") String text);

    @SqlUpdate("UPDATE invoice SET status = ? WHERE id = ?")
    void positional(String status, int id, @Fenced Lease lease);

    @SqlUpdate(CLOSE)
    void bean(@Fenced Lease lease, @BindBean Invoice invoice);

    @SqlUpdate("UPDATE invoice SET status = :i.status WHERE id = :i.id")
    void methods(@Fenced Lease lease, @BindMethods("i") Invoice invoice);

    @SqlUpdate(CLOSE)
    void map(@Fenced Lease lease, @BindMap Map<String, ?> values);

    @SqlUpdate("UPDATE <table> SET status = 'listed' WHERE id IN (<ids>)")
    int defined(
            @Fenced(rows = Fenced.Rows.AT_LEAST_ONE) Lease lease,
            @Define("table") String table,
            @BindList("ids") List<Integer> ids);

    @SqlUpdate("UPDATE invoice i SET status = j.status, <fenceSet> FROM invoice j"
            + " WHERE i.id = :id AND j.id = :from AND <fenceWhere>")
    void attributes(@Fenced(alias = "i") Lease lease, int id, int from);

    @SqlUpdate("INSERT INTO invoice (id, status, <fenceColumn>) VALUES (:id, :status, <fenceToken>)"
            + " ON CONFLICT (id) DO UPDATE SET status = excluded.status, <fenceSet> WHERE <fenceWhere>")
    void upsert(@Fenced(alias = "invoice") Lease lease, int id, String status);

    @SqlUpdate("UPDATE invoice SET status = 'both' WHERE id = :id AND status <> CAST(:lease AS text)")
    void alsoBound(@Fenced @Bind("lease") Lease lease, int id);

    @SqlQuery("SELECT :token")
    long boundToken(@Bind("token") FencingToken token);

    @SqlQuery("SELECT :lease")
    long boundLease(@Bind("lease") Lease lease);

    @SqlUpdate("UPDATE bill SET v = :v WHERE number = :number AND v < 5")
    void ownColumn(@Fenced(column = "epoch", key = "number") Lease lease, int v, int number);

    @SqlUpdate("UPDATE invoice SET status = :status WHERE id = :id AND false")
    void keyless(@Fenced(key = "doc") Lease lease, String status, int id);

    @SqlUpdate(CLOSE)
    @GetGeneratedKeys
    @UseRowMapper(InvoiceMapper.class)
    Invoice generated(@Fenced Lease lease, String status, int id);

    @SqlQuery(RETURNING)
    @UseRowMapper(InvoiceMapper.class)
    Invoice returningOne(@Fenced Lease lease, String status, int id);

    @SqlQuery(RETURNING)
    @UseRowMapper(InvoiceMapper.class)
    Optional<Invoice> returningOptional(@Fenced Lease lease, String status, int id);

    @SqlQuery(RETURNING)
    @UseRowMapper(InvoiceMapper.class)
    Stream<Invoice> returningStream(@Fenced Lease lease, String status, int id);

    @SqlQuery(RETURNING)
    @UseRowMapper(InvoiceMapper.class)
    Iterator<Invoice> returningIterator(@Fenced Lease lease, String status, int id);

    @SqlQuery("UPDATE invoice SET status = 'x' RETURNING id")
    int onlyTheFirst(@Fenced Lease lease);

    @MaxRows(1)
    @SqlQuery("UPDATE invoice SET status = 'x' RETURNING id")
    List<Integer> limited(@Fenced Lease lease);

    @SqlUpdate("UPDATE invoice SET status = #status WHERE id = #id")
    @UseSqlParser(HashPrefixSqlParser.class)
    void ownParser(@Fenced Lease lease, String status, int id);

    @SqlUpdate("UPDATE $table$ SET status = :status WHERE id = :id")
    @UseTemplateEngine(StrictTemplateEngine.class)
    void ownEngine(@Fenced Lease lease, @Define("table") String table, String status, int id);

    @SqlBatch(CLOSE)
    void allVoid(@Fenced Lease lease, @Bind("status") String status, @Bind("id") List<Integer> ids);

    @SqlBatch(CLOSE)
    boolean[] allBooleans(@Fenced Lease lease, @BindBean List<Invoice> invoices);

    @SqlBatch("UPDATE invoice SET status = ? WHERE id = ?")
    int[] allPositional(List<String> statuses, List<Integer> ids, @Fenced Lease lease);

    @SqlBatch(CLOSE)
    @GetGeneratedKeys({"id", "status"})
    @UseRowMapper(InvoiceMapper.class)
    List<Invoice> allGenerated(@Fenced Lease lease, @BindBean List<Invoice> invoices);

    @SqlBatch(CLOSE)
    @BatchChunkSize(1)
    int[] chunked(@Fenced Lease lease, @Bind("status") String status, @Bind("id") List<Integer> ids);

    @SqlBatch(CLOSE)
    @BatchChunkSize(1)
    int[] unfenced(@Bind("status") String status, @Bind("id") List<Integer> ids);
}
