// Java's own server, which answers before it has read a body, with the status of its first argument. Prints its port.
import com.sun.net.httpserver.HttpServer
import java.util.concurrent.Executors

def server = HttpServer.create(new InetSocketAddress('127.0.0.1', 0), 0)
server.executor = Executors.newCachedThreadPool()
server.createContext('/') { exchange ->
    def body = '{"code":1,"message":"No."}'.bytes
    exchange.responseHeaders.set('Content-Type', 'application/json')
    exchange.sendResponseHeaders(args[0] as int, body.length)
    exchange.responseBody.write(body)
    exchange.close()
}
server.start()
println server.address.port
