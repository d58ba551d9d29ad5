package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;

/** Seals by the server function, as a statement of its own. */
final class SealFunction implements Seal {
    private static final int PARAMETERS = 3;

    private final String call;

    /** Creates one; the schema is quoted. */
    SealFunction(String schema) {
        this.call = schema + "." + FenceFunctions.SEAL + "(?, ?, ?)";
    }

    /** Returns the statement that seals a number of fences. */
    String sql(int fences) {
        return "SELECT " + call + (", " + call).repeat(fences - 1);
    }

    @Override
    public SealMode mode() {
        return SealMode.SEPARATE;
    }

    @Override
    public Verdict seal(Connection connection, List<Claim> claims) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(claims.size()))) {
            bind(statement, claims);
            statement.execute();
            return Verdict.SEALED;
        } catch (SQLException e) {
            return Verdict.refused(FenceRefusal.ofCommit(e, claims).orElseThrow(() -> e));
        }
    }

    static void bind(PreparedStatement statement, List<Claim> claims) throws SQLException {
        for (int i = 0; i < claims.size(); i++) {
            bind(statement, i * PARAMETERS, claims.get(i));
        }
    }

    private static void bind(PreparedStatement statement, int before, Claim claim) throws SQLException {
        statement.setString(before + 1, claim.resource());
        if (claim.election() == null) {
            statement.setNull(before + 2, Types.VARCHAR);
        } else {
            statement.setString(before + 2, claim.election());
        }
        statement.setLong(before + 3, claim.token().value());
    }
}
