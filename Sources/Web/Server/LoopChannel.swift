import Basics
import HummingbirdCore
import Logging
import NIOCore

/// Hummingbird's channel of HTTP/1, which marks all work that answers requests and reports the client's departure.
///
/// Answers do not block: the database and files are read on serial queues.
struct LoopChannel: ServerChildChannel {
    /// An accepted connection.
    struct Connection: ServerChildChannelValue {
        let http: HTTP1Channel.Value
        let departure: ClientDeparture

        var channel: any Channel { http.channel }
    }

    let http: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        // Sets a mark of the loop's own thread, so it must run there. It does not block, and no answer depends on when it ends.
        channel.eventLoop.execute(AnsweringThread.mark)
        return http.setup(channel: channel, logger: logger).flatMapThrowing { http in
            let departure = ClientDeparture()
            try channel.pipeline.syncOperations.addHandler(ClientDeparture.Watch(departure), position: .first)
            return Connection(http: http, departure: departure)
        }
    }

    func handle(value: Connection, logger: Logger) async {
        await AnsweringThread.$isAnswering.withValue(true) {
            await ClientDeparture.$ofConnection.withValue(value.departure) {
                await http.handle(value: value.http, logger: logger)
            }
        }
    }
}
