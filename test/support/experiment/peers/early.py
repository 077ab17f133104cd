"""A server that answers before it has read a body, with the status of its first argument, and closes. Prints its port."""
import http.server
import sys


class Refusing(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = b'{"code":1,"message":"No."}'
        self.send_response(int(sys.argv[1]))
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Refusing)
print(server.server_port, flush=True)
server.serve_forever()
