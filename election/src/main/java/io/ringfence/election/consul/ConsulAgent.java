package io.ringfence.election.consul;

import com.ecwid.consul.SingleUrlParameters;
import com.ecwid.consul.UrlParameters;
import com.ecwid.consul.transport.HttpResponse;
import com.ecwid.consul.v1.ConsulRawClient;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One agent's HTTP API through consul-api's raw client, which lets us write each body ourselves: the typed one sends a lock
 * delay of zero, binds sessions to the node's health, and puts ACL tokens into URLs.
 *
 * @param settings those of this agent alone
 */
record ConsulAgent(
        Settings settings,
        ConsulRawClient renewing,
        ConsulRawClient watching,
        ConsulRawClient control,
        ConsulRawClient beating) {

    /** Sends the request and waits for the answer; throws what consul-api throws if there is none, or nonsense. */
    ConsulAnswer send(ConsulRequest request) {
        if (request instanceof ConsulRequest.CreateSession create) {
            return create.check() == null ? create(null) : createWithCheck(create.check());
        } else if (request instanceof ConsulRequest.Register register) {
            return register(beating, register.check());
        } else if (request instanceof ConsulRequest.Heartbeat heartbeat) {
            return done(put(beating, "/v1/agent/check/pass/" + heartbeat.check(), ""));
        } else if (request instanceof ConsulRequest.Deregister deregister) {
            return deregister(deregister.check());
        } else if (request instanceof ConsulRequest.RenewSession renew) {
            return renewed(put(renewing, "/v1/session/renew/" + renew.session(), ""));
        } else if (request instanceof ConsulRequest.DestroySession destroy) {
            return done(put(control, "/v1/session/destroy/" + destroy.session(), ""));
        } else if (request instanceof ConsulRequest.Lock lock) {
            String body = ConsulJson.lock(lock.guard(), lock.session(), holderValue());
            return ConsulJson.keyChanged(settings, txn(body), lock.session());
        } else if (request instanceof ConsulRequest.Unlock unlock) {
            String body = ConsulJson.unlock(List.of(unlock.guard()), unlock.session(), holderValue());
            return ConsulJson.keyChanged(settings, txn(body), null);
        } else if (request instanceof ConsulRequest.UnlockAll unlockAll) {
            return done(txn(ConsulJson.unlock(unlockAll.guards(), unlockAll.session(), holderValue())));
        } else if (request instanceof ConsulRequest.Read read) {
            List<UrlParameters> parameters = parameters();
            parameters.add(flag("consistent"));
            return ConsulJson.keyRead(settings, read.key(), get(control, read.key(), parameters));
        } else {
            return watched((ConsulRequest.Watch) request);
        }
    }

    private ConsulAnswer create(@Nullable String check) {
        HttpResponse response = put(control, "/v1/session/create", ConsulJson.newSession(settings, check, null));
        if (settings.datacenter() != null && ConsulJson.isOfUnknownNode(response)) {
            // A session belongs to a node, by default the agent's, which another datacenter does not know.
            HttpResponse servers = control.makeGetRequest("/v1/catalog/service/consul", parameters());
            if (servers.getStatusCode() != 200) {
                return ConsulJson.unusable(settings, servers);
            }
            String node = ConsulJson.firstNode(servers);
            if (node == null) {
                return ConsulJson.noNodeToBindTo(settings);
            }
            response = put(control, "/v1/session/create", ConsulJson.newSession(settings, check, node));
        }
        return ConsulJson.sessionCreated(settings, response);
    }

    /** Registers the check and makes a session that is bound to it, or leaves neither if it can. */
    private ConsulAnswer createWithCheck(String check) {
        boolean created = false;
        try {
            ConsulAnswer registered = register(control, check);
            ConsulAnswer answer = registered instanceof ConsulAnswer.Done ? create(check) : registered;
            created = answer instanceof ConsulAnswer.SessionCreated;
            return answer;
        } finally {
            if (!created) {
                quietlyDeregister(check);
            }
        }
    }

    private void quietlyDeregister(String check) {
        try {
            ConsulAnswer unused = deregister(check);
        } catch (RuntimeException e) {
            // The agent removes a check that hears no heartbeat, and the session with it.
        }
    }

    private ConsulAnswer register(ConsulRawClient client, String check) {
        return done(put(client, "/v1/agent/service/register", ConsulJson.service(settings, check)));
    }

    private ConsulAnswer deregister(String check) {
        return done(put(control, "/v1/agent/service/deregister/" + check, ""));
    }

    private ConsulAnswer watched(ConsulRequest.Watch watch) {
        List<UrlParameters> parameters = parameters();
        parameters.add(flag("recurse"));
        if (watch.index() > 0) {
            parameters.add(new SingleUrlParameters("index", Long.toString(watch.index())));
            parameters.add(new SingleUrlParameters("wait", settings.watchWait().toMillis() + "ms"));
        } else {
            parameters.add(flag("consistent"));
        }
        return ConsulJson.keyList(settings, get(watching, settings.keyPrefix(), parameters));
    }

    private ConsulAnswer renewed(HttpResponse response) {
        return response.getStatusCode() == 404 ? new ConsulAnswer.SessionGone() : done(response);
    }

    private ConsulAnswer done(HttpResponse response) {
        return response.getStatusCode() == 200 ? new ConsulAnswer.Done() : ConsulJson.unusable(settings, response);
    }

    private String holderValue() {
        return HolderValue.of(settings.holder(), settings.epoch());
    }

    private HttpResponse txn(String body) {
        return put(control, "/v1/txn", body);
    }

    private HttpResponse put(ConsulRawClient client, String path, String body) {
        return client.makePutRequest(path, body, parameters().toArray(UrlParameters[]::new));
    }

    private static HttpResponse get(ConsulRawClient client, String key, List<UrlParameters> parameters) {
        return client.makeGetRequest("/v1/kv/" + key, parameters);
    }

    /** What every request carries. */
    private List<UrlParameters> parameters() {
        List<UrlParameters> parameters = new ArrayList<>();
        String datacenter = settings.datacenter();
        if (datacenter != null) {
            parameters.add(new SingleUrlParameters("dc", datacenter));
        }
        return parameters;
    }

    private static UrlParameters flag(String name) {
        return new SingleUrlParameters(name);
    }
}
