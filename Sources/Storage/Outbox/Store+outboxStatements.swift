/// What the outbox asks of the database each time something is told. Each is answered from an index whatever the number of messages:
/// the conditions are word by word those of the partial indices, which SQLite would not use otherwise.
extension Store {
    /// The message of a destination that is due longest: by time, so that one that fails does not keep the others waiting.
    static let dueQuery = """
        SELECT id FROM outbox WHERE kind = ? AND destination = ? AND account = ? AND state = 'waiting' AND is_first = 1
        AND next_at <= ? ORDER BY next_at, id LIMIT 1
        """

    /// One that a clock which went wrong put off for too long.
    static let strayQuery = """
        SELECT id FROM outbox WHERE kind = ? AND destination = ? AND account = ? AND state = 'waiting' AND is_first = 1
        AND next_at > ? ORDER BY next_at, id LIMIT 1
        """

    /// Goes from destination to destination, so that it costs by their number, not by that of the messages.
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

    /// Whether a newer one of a subject is open.
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

    /// Those of a destination that wait longest.
    static let overdueQuery = """
        SELECT id FROM outbox WHERE kind = ? AND destination = ? AND account = ? AND state = 'waiting' AND created_at < ?
        ORDER BY created_at LIMIT ?
        """

    /// When the last of those that stay was stored, of the newest so many of a destination.
    static let overflowQuery = """
        SELECT created_at FROM outbox WHERE kind = ? AND destination = ? AND account = ? AND state = 'waiting'
        ORDER BY created_at DESC LIMIT 1 OFFSET ?
        """

    static let expiry = """
        UPDATE outbox SET state = 'given-up', ended_at = ?1, note = ?2 || coalesce('; the last: ' || note, '; it was never tried')
        WHERE id = ?3
        """
}
