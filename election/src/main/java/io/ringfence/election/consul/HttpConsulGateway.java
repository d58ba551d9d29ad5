package io.ringfence.election.consul;

import com.ecwid.consul.SingleUrlParameters;
import com.ecwid.consul.UrlParameters;
import com.ecwid.consul.transport.HttpResponse;
import com.ecwid.consul.transport.TransportException;
import com.ecwid.consul.v1.ConsulRawClient;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Consul's HTTP API through consul-api's raw client, which lets us write each body ourselves: the typed one sends a lock
 * delay of zero, binds sessions to the node's health, and puts ACL tokens into URLs.
 *
 * <p>Three HTTP clients share nothing, so that neither a watch nor a slow request can hold up a renewal.
 */
final class HttpConsulGateway implements ConsulGateway {
    /** Consul may answer a watch up to a sixteenth of its wait late, and holds any read for 7 s while it has no leader. */
    private static final Duration LATE_WATCH = Duration.ofSeconds(8);

    private final Settings settings;
    private final String holderValue;
    private final HttpConnections renewing;
    private final HttpConnections watching;
    private final HttpConnections control;

    HttpConsulGateway(URI address, Settings settings, Supplier<? extends @Nullable String> aclToken) {
        this.settings = settings;
        this.holderValue = HolderValue.of(settings.holder(), settings.epoch());
        Duration watchTimeout =
                settings.watchWait().multipliedBy(17).dividedBy(16).plus(LATE_WATCH);
        this.renewing = new HttpConnections(address, 1, settings.requestTimeout(), aclToken);
        this.watching = new HttpConnections(address, 1, watchTimeout, aclToken);
        this.control = new HttpConnections(address, 2, settings.requestTimeout(), aclToken);
    }

    @Override
    public ConsulAnswer send(ConsulRequest request) {
        try {
            if (request instanceof ConsulRequest.CreateSession) {
                return ConsulJson.sessionCreated(
                        settings, put(control, "/v1/session/create", ConsulJson.newSession(settings)));
            } else if (request instanceof ConsulRequest.RenewSession renew) {
                return renewed(put(renewing, "/v1/session/renew/" + renew.session(), ""));
            } else if (request instanceof ConsulRequest.DestroySession destroy) {
                HttpResponse response = put(control, "/v1/session/destroy/" + destroy.session(), "");
                return response.getStatusCode() == 200 ? new ConsulAnswer.Done() : unusable(response);
            } else if (request instanceof ConsulRequest.Lock lock) {
                String body = ConsulJson.lock(lock.guard(), lock.session(), holderValue);
                return ConsulJson.keyChanged(settings, txn(body), lock.session());
            } else if (request instanceof ConsulRequest.Unlock unlock) {
                String body = ConsulJson.unlock(List.of(unlock.guard()), unlock.session(), holderValue);
                return ConsulJson.keyChanged(settings, txn(body), null);
            } else if (request instanceof ConsulRequest.UnlockAll unlockAll) {
                String body = ConsulJson.unlock(unlockAll.guards(), unlockAll.session(), holderValue);
                HttpResponse response = txn(body);
                return response.getStatusCode() == 200 ? new ConsulAnswer.Done() : unusable(response);
            } else if (request instanceof ConsulRequest.Read read) {
                return ConsulJson.keyRead(settings, read.key(), get(control, read.key(), flag("consistent")));
            } else {
                return watched((ConsulRequest.Watch) request);
            }
        } catch (TransportException e) {
            return new ConsulAnswer.Failed(
                    "Cannot reach Consul at " + settings.address() + ": " + rootMessage(e)
                            + ". Check that the address is right and that an agent runs there",
                    e);
        } catch (RuntimeException e) {
            return new ConsulAnswer.Failed(
                    "A request to Consul at " + settings.address() + " failed: " + rootMessage(e)
                            + ". Either it is no Consul agent, or the supplier of the ACL token throws",
                    e);
        }
    }

    private ConsulAnswer watched(ConsulRequest.Watch watch) {
        List<UrlParameters> parameters = new ArrayList<>();
        parameters.add(flag("recurse"));
        if (watch.index() > 0) {
            parameters.add(new SingleUrlParameters("index", Long.toString(watch.index())));
            parameters.add(new SingleUrlParameters("wait", settings.watchWait().toMillis() + "ms"));
        } else {
            parameters.add(flag("consistent"));
        }
        UrlParameters[] all = parameters.toArray(UrlParameters[]::new);
        return ConsulJson.keyList(settings, get(watching, settings.keyPrefix(), all));
    }

    private ConsulAnswer renewed(HttpResponse response) {
        return switch (response.getStatusCode()) {
            case 200 -> new ConsulAnswer.Done();
            case 404 -> new ConsulAnswer.SessionGone();
            default -> unusable(response);
        };
    }

    private ConsulAnswer unusable(HttpResponse response) {
        return ConsulJson.unusable(settings, response);
    }

    private HttpResponse txn(String body) {
        return put(control, "/v1/txn", body);
    }

    private static HttpResponse put(HttpConnections connections, String path, String body) {
        ConsulRawClient client = connections.client();
        return client.makePutRequest(path, body);
    }

    private static HttpResponse get(HttpConnections connections, String key, UrlParameters... parameters) {
        return connections.client().makeGetRequest("/v1/kv/" + key, parameters);
    }

    private static UrlParameters flag(String name) {
        return new SingleUrlParameters(name);
    }

    private static String rootMessage(Throwable thrown) {
        Throwable root = thrown;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String message = root.getMessage();
        return root.getClass().getSimpleName() + (message == null ? "" : ": " + message);
    }

    @Override
    public void close() {
        renewing.close();
        watching.close();
        control.close();
    }
}
