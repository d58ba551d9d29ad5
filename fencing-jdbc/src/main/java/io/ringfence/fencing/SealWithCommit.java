package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Seals by the server function and commits, in one message. The server skips the rest of a message after an error in it:
 * after a refusal there is no COMMIT. Where a connection cannot do that, the function is called by itself.
 */
final class SealWithCommit implements Seal {
    private static final Logger LOG = LoggerFactory.getLogger(ResourceFence.class);

    /** SQLSTATE of a prepared statement that somebody else, like a pooler between, has removed from the session. */
    private static final String STATEMENT_GONE = "26000";

    private final SealFunction separate;
    /** Creates one; the schema is quoted. */
    SealWithCommit(String schema) {
        this.separate = new SealFunction(schema);
    }

    /** Tells whether connections like this one can do it; where the driver's classes are not in reach, they cannot. */
    static boolean worksOn(Connection connection) {
        try {
            return PgDriver.sendsOneMessage(connection);
        } catch (SQLException | LinkageError e) {
            LOG.atDebug().setCause(e).log("Seal and COMMIT are sent apart: the driver cannot be reached");
            return false;
        }
    }

    @Override
    public SealMode mode() {
        return SealMode.WITH_COMMIT;
    }

    @Override
    public Verdict seal(Connection connection, List<Claim> claims) throws SQLException {
        @Nullable Connection driver = PgDriver.inOpenTransaction(connection);
        if (driver == null) {
            return separate.seal(connection, claims);
        }
        PreparedStatement statement = driver.prepareStatement(separate.sql(claims.size()) + ";commit");
        try {
            SealFunction.bind(statement, claims);
            return execute(statement, claims);
        } finally {
            close(statement);
        }
    }

    private static Verdict execute(PreparedStatement statement, List<Claim> claims) throws SQLException {
        try {
            statement.execute();
            return Verdict.COMMITTED;
        } catch (SQLException e) {
            if (Connections.isLost(e)) {
                throw CommitOutcomeUnknownException.of(claims, e);
            }
            if (STATEMENT_GONE.equals(e.getSQLState())) {
                throw new SQLTransactionRollbackException(
                        FenceRefusal.rolledBack(claims.get(0))
                                + ": a prepared statement of its session was removed by somebody"
                                + " else. Run the whole transaction again",
                        STATEMENT_GONE,
                        e);
            }
            return Verdict.refused(FenceRefusal.ofCommit(e, claims).orElseThrow(() -> e));
        }
    }

    /** The outcome stands, whatever happens to the statement. */
    private static void close(PreparedStatement statement) {
        try {
            statement.close();
        } catch (SQLException e) {
            LOG.atDebug().setCause(e).log("The statement of the seal could not be closed");
        }
    }
}
