package io.ringfence.fencing.jdbi;

import io.ringfence.election.FencingTokenSource;
import java.util.List;
import java.util.Map;

/** The ways into a fence that JDBI's users have, for any statement. */
interface JdbiWrites {

    /** Runs a statement that is to write one row. */
    long update(FencingTokenSource source, String sql, Map<String, Object> parameters);

    /** Runs a statement of a fence without a key. */
    long keyless(FencingTokenSource source, String sql, Map<String, Object> parameters);

    /** Runs a statement that is to write two rows. */
    long two(FencingTokenSource source, String sql, Map<String, Object> parameters);

    /** Runs a statement that is to write one row or more. */
    long atLeastOne(FencingTokenSource source, String sql, Map<String, Object> parameters);

    /** Runs a statement that may write any number of rows. */
    long any(FencingTokenSource source, String sql, Map<String, Object> parameters);

    /** Runs a statement whose rows nobody counts. */
    long unchecked(FencingTokenSource source, String sql, Map<String, Object> parameters);

    /** Runs a statement with RETURNING and reads its first column. */
    List<String> returning(FencingTokenSource source, String sql, Map<String, Object> parameters);

    /** Runs a statement and reads the generated status. */
    String generated(FencingTokenSource source, String sql, Map<String, Object> parameters);

    /** Closes invoices in one batch. */
    int[] closeAll(FencingTokenSource source, List<Integer> ids);
}
