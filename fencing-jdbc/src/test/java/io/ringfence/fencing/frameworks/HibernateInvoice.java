package io.ringfence.fencing.frameworks;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** An entity, which knows nothing of tokens. */
@Entity
@Table(name = "invoice")
class HibernateInvoice {
    @Id
    private int id;

    private String status;
    private Integer cancels;

    HibernateInvoice() {}

    HibernateInvoice(int id, String status, Integer cancels) {
        this.id = id;
        this.status = status;
        this.cancels = cancels;
    }

    int id() {
        return id;
    }

    Integer cancels() {
        return cancels;
    }

    String status() {
        return status;
    }

    void become(String next) {
        status = next;
    }
}
