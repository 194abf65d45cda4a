/// The outbox's statements, run for each stored or sent message. Each is answered from an index, so its cost does not grow with the number of
/// messages. The conditions repeat those of the partial indices word for word, because SQLite would not use the indices otherwise.
extension Store {
    /// Selects the destination's message that has been due longest. The order is by time, so that a failing message does not delay the others.
    static let dueQuery = """
        SELECT id FROM outbox WHERE kind = ? AND destination = ? AND account = ? AND state = 'waiting' AND is_first = 1
        AND next_at <= ? ORDER BY next_at, id LIMIT 1
        """

    /// Selects a message that a wrong clock postponed for too long.
    static let strayQuery = """
        SELECT id FROM outbox WHERE kind = ? AND destination = ? AND account = ? AND state = 'waiting' AND is_first = 1
        AND next_at > ? ORDER BY next_at, id LIMIT 1
        """

    /// Steps from destination to destination, so that the cost depends on the number of destinations and not on the number of messages.
    static let placesQuery = """
        WITH RECURSIVE place (kind, destination, account, next_at) AS (
            SELECT * FROM (
                SELECT kind, destination, account, next_at FROM outbox WHERE state = 'waiting' AND is_first = 1
                ORDER BY kind, destination, account, next_at LIMIT 1)
            UNION ALL
            SELECT following.kind, following.destination, following.account, following.next_at
            FROM place JOIN outbox AS following ON following.id = coalesce(
                (SELECT id FROM outbox WHERE state = 'waiting' AND is_first = 1 AND kind = place.kind
                 AND destination = place.destination AND account > place.account ORDER BY account, next_at LIMIT 1),
                (SELECT id FROM outbox WHERE state = 'waiting' AND is_first = 1 AND kind = place.kind
                 AND destination > place.destination ORDER BY destination, account, next_at LIMIT 1),
                (SELECT id FROM outbox WHERE state = 'waiting' AND is_first = 1 AND kind > place.kind
                 ORDER BY kind, destination, account, next_at LIMIT 1)))
        SELECT kind, destination, account, next_at FROM place
        """

    /// Returns whether a newer message of a subject is open.
    static let newerQuery = """
        SELECT EXISTS (SELECT 1 FROM outbox WHERE kind = ? AND destination = ? AND subject = ?
        AND state IN ('waiting', 'sending') AND id > ?)
        """

    static let settlement = """
        UPDATE outbox SET state = ?, note = ?, next_at = coalesce(?, next_at), is_uncertain = is_uncertain OR ?, ended_at = ?,
        failed_at = coalesce(failed_at, ?) WHERE id = ? AND state = 'sending'
        """

    static let recovery = """
        UPDATE outbox SET state = 'waiting', is_uncertain = 1, next_at = ? WHERE state = 'sending'
        """

    /// Selects a destination's messages that have waited longest.
    static let overdueQuery = """
        SELECT id FROM outbox WHERE kind = ? AND destination = ? AND account = ? AND state = 'waiting' AND created_at < ?
        ORDER BY created_at LIMIT ?
        """

    /// Selects the storage time of the oldest message to keep among a destination's waiting messages.
    static let overflowQuery = """
        SELECT created_at FROM outbox WHERE kind = ? AND destination = ? AND account = ? AND state = 'waiting'
        ORDER BY created_at DESC LIMIT 1 OFFSET ?
        """

    static let expiry = """
        UPDATE outbox SET state = 'given-up', ended_at = ?1, note = ?2 || coalesce('; the last: ' || note, '; it was never tried')
        WHERE id = ?3
        """
}
