package io.ringfence.election.consul;

import io.ringfence.election.ElectionException;
import io.ringfence.election.LossReason;
import io.ringfence.election.internal.Listeners;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Signals and log lines, all brought to the outside on callback threads. Never names a session or an ACL token. */
final class ElectionEvents {
    private static final Logger LOG = LoggerFactory.getLogger(ConsulElections.class);

    private final Outbox outbox;
    private final Listeners listeners;

    ElectionEvents(Outbox outbox, Listeners listeners) {
        this.outbox = outbox;
        this.listeners = listeners;
    }

    void acquired(ConsulLease lease) {
        listeners.acquired(lease);
        outbox.run(() -> LOG.atInfo()
                .addKeyValue("ringfence.election", lease.election())
                .addKeyValue("ringfence.token", lease.fencingToken())
                .log("leadership acquired"));
    }

    void lost(ConsulLease lease, LossReason reason) {
        lease.tellRetainer(reason);
        listeners.lost(lease, reason);
        outbox.run(() -> {
            lease.signalLoss(reason);
            boolean wanted = reason == LossReason.RELEASED || reason == LossReason.SHUTDOWN;
            LOG.atLevel(wanted ? Level.INFO : Level.WARN)
                    .addKeyValue("ringfence.election", lease.election())
                    .addKeyValue("ringfence.token", lease.fencingToken())
                    .addKeyValue("ringfence.reason", reason)
                    .log(wanted ? "leadership released" : "leadership lost");
        });
    }

    void outageBegan(String message) {
        outbox.run(() -> LOG.atWarn().log("Consul does not answer: {}. Trying again until it does", message));
    }

    void outageEnded() {
        outbox.run(() -> LOG.atInfo().log("Consul answers again"));
    }

    void heartbeatFailed(ElectionException failure) {
        outbox.run(() -> LOG.atWarn().log("A heartbeat failed: {}. Trying again", failure.getMessage()));
    }

    void manyKeys(String prefix, int keys) {
        outbox.run(() -> LOG.atWarn()
                .addKeyValue("ringfence.keys", keys)
                .log(
                        "There are {} keys under '{}', and every change of one sends all to every process that watches."
                                + " Split the elections over several key prefixes",
                        keys,
                        prefix));
    }

    void unsafeLockDelay(Settings settings) {
        LOG.atInfo().log(
                "The lock delay of {} is shorter than ttl - margin = {}, so two processes may both believe that they lead"
                        + " for a moment: safe only where a fence checks the tokens",
                settings.lockDelay(),
                settings.term());
    }
}
