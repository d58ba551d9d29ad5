package io.ringfence.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ringfence.election.Election;
import io.ringfence.election.Elections;
import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease;
import io.ringfence.election.LeaseLostException;
import io.ringfence.election.TokenRegressionException;
import io.ringfence.election.consul.ConsulElections;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A fence that has seen a higher token: it raises the alarm when Consul was rebuilt, and not when somebody newer leads. */
@ExtendWith(SharedServers.class)
class RegressionIT {
    private static final Pattern SESSION = Pattern.compile("\"Session\":\"([^\"]+)\"");

    private static ResourceFence fence(PostgresDatabase database) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(FenceSchema.postgres().fenceTable());
        }
        return ResourceFence.on(database.dataSource(), "invoices");
    }

    private static Elections elections(ConsulServer consul, int epoch) {
        return ConsulElections.builder(consul.url())
                .keyPrefix("regression/")
                .lockDelay(Duration.ZERO)
                .epoch(epoch)
                .build();
    }

    @Test
    void namesBothNumbersAndTheRemedy_whenConsulWasRebuilt_andTheDatabaseRemembersHigherTokens(
            PostgresDatabase database) throws Exception {
        ResourceFence fence = fence(database);
        FencingToken highest;
        try (ConsulServer old = ConsulServer.start();
                Elections elections = elections(old, 0)) {
            Election election = elections.election("closer");
            for (int i = 0; i < 30; i++) {
                election.acquire().close();
            }
            try (Lease lease = election.acquire()) {
                fence.raise(lease);
                highest = lease.fencingToken();
            }
        }
        try (ConsulServer rebuilt = ConsulServer.start();
                Elections forgotten = elections(rebuilt, 0);
                Elections raised = elections(rebuilt, 1)) {
            try (Lease lease = forgotten.election("closer").acquire()) {
                assertThat(lease.fencingToken()).isLessThan(highest);
                assertThatExceptionOfType(TokenRegressionException.class)
                        .isThrownBy(() -> fence.raise(lease))
                        .withMessageContainingAll(
                                lease.fencingToken().toString(),
                                highest.toString(),
                                "rebuilt or restored",
                                "another election or datacenter",
                                "raise the epoch for all processes");
            }
            try (Lease lease = raised.election("closer").acquire()) {
                fence.raise(lease);
                assertThat(lease.fencingToken()).isGreaterThan(highest);
            }
        }
    }

    @Test
    void raisesNoFalseAlarm_whenANewerLeaderWinsBetweenTheReadAndTheConfirmation(
            ConsulServer consul, PostgresDatabase database) throws Exception {
        ResourceFence fence = fence(database);
        List<Throwable> endings = new ArrayList<>();
        try (Elections first = elections(consul, 0);
                Elections second = elections(consul, 0)) {
            for (int round = 0; round < 30; round++) {
                Lease lease = first.election("race").acquire();
                fence.raise(lease);
                assertThat(lease.confirm()).isEqualTo(Lease.Confirmation.CONFIRMED);
                CompletableFuture<Throwable> ended = CompletableFuture.supplyAsync(() -> catchThrowable(() -> {
                    while (true) {
                        fence.useTransaction(lease, connection -> {});
                    }
                }));
                consul.destroySession(sessionOf(consul));
                try (Lease newer = second.election("race").acquire()) {
                    fence.raise(newer);
                }
                endings.add(ended.get(30, TimeUnit.SECONDS));
            }
        }
        assertThat(endings)
                .hasSize(30)
                .allSatisfy(ending ->
                        assertThat(ending).isInstanceOfAny(FencedOutException.class, LeaseLostException.class));
    }

    private static String sessionOf(ConsulServer consul) {
        Matcher session = SESSION.matcher(consul.get("/v1/kv/regression/race"));
        assertThat(session.find()).isTrue();
        return session.group(1);
    }
}
