package io.ringfence.election.consul;

import static org.awaitility.Awaitility.await;

import io.ringfence.election.ElectionListener;
import io.ringfence.election.Elections;
import io.ringfence.election.LossReason;
import io.ringfence.election.testing.ElectionContract;
import io.ringfence.servers.ConsulServer;
import io.ringfence.servers.SharedServers;
import java.time.Duration;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract on a real Consul. */
@ExtendWith(SharedServers.class)
class ConsulElectionsContractIT extends ElectionContract {
    private static final String PREFIX = "contract/";

    private final ConsulServer server;
    private final Consul consul;

    ConsulElectionsContractIT(ConsulServer server) {
        this.server = server;
        this.consul = new Consul(server, PREFIX);
    }

    @Override
    protected Elections make(String holder, ElectionListener... listeners) {
        ConsulElections.Builder builder = consul.quick().holder(holder).requestTimeout(Duration.ofSeconds(1));
        for (ElectionListener listener : listeners) {
            builder.listener(listener);
        }
        return builder.build();
    }

    @Override
    protected void takeAway(Elections holder, String election, LossReason reason) {
        String session = consul.session(election);
        switch (reason) {
            case SESSION_EXPIRED -> server.destroySession(session);
            case LOCK_DELETED -> server.deleteKey(PREFIX + election);
            case LOCK_RELEASED -> consul.put(election, "?release=" + session, "");
            case LOCK_TAKEN -> consul.passOn(election, session, consul.foreignSession());
            default -> throw new IllegalArgumentException(reason.name());
        }
    }

    @Override
    protected void letGo(String election) {
        server.destroySession(consul.session(election));
    }

    @Override
    protected void pass(Duration duration) {
        await().pollDelay(duration).atMost(duration.multipliedBy(2)).until(() -> true);
    }
}
