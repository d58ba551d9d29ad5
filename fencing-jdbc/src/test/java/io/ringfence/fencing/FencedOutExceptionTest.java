package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.FencingToken;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class FencedOutExceptionTest {
    private final FencedOutException fenced = new FencedOutException(
            "refused", "table t", "id = 1", new FencingToken(3), 5L, FencedOutException.Reason.SUPERSEDED);

    @Test
    void isFound_behindCausesNextExceptionsAndSuppressedOnes() {
        SQLException batch = new SQLException("batch");
        batch.setNextException(new SQLException("next", fenced));
        RuntimeException outer = new RuntimeException("outer");
        outer.addSuppressed(new IllegalStateException(batch));

        assertThat(FencedOutException.find(outer)).containsSame(fenced);
        assertThat(FencedOutException.find(fenced)).containsSame(fenced);
    }

    @Test
    void isNotFound_inACycleWithoutIt() {
        RuntimeException first = new RuntimeException("first");
        RuntimeException second = new RuntimeException("second", first);
        first.initCause(second);

        assertThat(FencedOutException.find(first)).isEmpty();
    }
}
