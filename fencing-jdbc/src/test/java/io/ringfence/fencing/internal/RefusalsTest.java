package io.ringfence.fencing.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.ringfence.election.FencingToken;
import io.ringfence.fencing.ExpectedRows;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.TooManyRowsException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;

class RefusalsTest {
    private final Recorder log = new Recorder();

    @ParameterizedTest
    @EnumSource(
            value = Reason.class,
            names = {"SUPERSEDED", "UNKNOWN", "NOT_RAISED"})
    void aRefusalIsAWarning_withBothTokens(Reason reason) {
        Refusals.log(log, new FencedOutException("no", "table t", "id = 1", new FencingToken(3), 5L, reason));

        assertThat(log.lines)
                .containsExactly("WARN target=table t key=id = 1 reason=" + reason
                        + " presented=3 observed=5 Fenced write refused");
    }

    @Test
    void tooManyRowsAreAWarning() {
        Refusals.log(log, new TooManyRowsException("table t", 2, ExpectedRows.one()));

        assertThat(log.lines).singleElement().asString().startsWith("WARN refusal=TooManyRowsException");
    }

    @Test
    void aMissingRowIsOnlyForDebugging() {
        Refusals.log(log, new NoMatchingRowException("no", "table t", null, new FencingToken(3), null));

        assertThat(log.lines).singleElement().asString().startsWith("DEBUG target=table t key=unknown");
    }

    private static final class Recorder extends LegacyAbstractLogger {
        private static final long serialVersionUID = 1L;

        private final transient List<String> lines = new ArrayList<>();

        @Override
        protected void handleNormalizedLoggingCall(
                Level level, Marker marker, String message, Object[] arguments, Throwable failure) {
            lines.add(level + " " + message);
        }

        @Override
        protected String getFullyQualifiedCallerName() {
            return Recorder.class.getName();
        }

        @Override
        public boolean isTraceEnabled() {
            return true;
        }

        @Override
        public boolean isDebugEnabled() {
            return true;
        }

        @Override
        public boolean isInfoEnabled() {
            return true;
        }

        @Override
        public boolean isWarnEnabled() {
            return true;
        }

        @Override
        public boolean isErrorEnabled() {
            return true;
        }
    }
}
