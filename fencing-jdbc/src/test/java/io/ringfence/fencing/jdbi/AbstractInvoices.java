package io.ringfence.fencing.jdbi;

import io.ringfence.election.Lease;
import java.util.List;
import org.jdbi.v3.sqlobject.statement.SqlBatch;
import org.jdbi.v3.sqlobject.statement.SqlQuery;
import org.jdbi.v3.sqlobject.statement.SqlUpdate;

/** A SQL object that is an abstract class. */
public abstract class AbstractInvoices {

    @SqlUpdate("UPDATE invoice SET status = :status WHERE id = :id")
    abstract int close(@Fenced Lease lease, String status, int id);

    @SqlQuery("UPDATE invoice SET status = :status WHERE id = :id RETURNING status")
    abstract String returning(@Fenced Lease lease, String status, int id);

    @SqlBatch("UPDATE invoice SET status = 'x' WHERE id = :ids")
    abstract int[] closeAll(@Fenced Lease lease, List<Integer> ids);
}
