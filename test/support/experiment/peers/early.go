// A server that answers before it has read a body, with the status of its first argument: 401, 413 or 200.
// With 200 it reads all, and closes what has been idle for a second. Prints its port.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	status, _ := strconv.Atoi(os.Args[1])
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{
		IdleTimeout: time.Second,
		Handler: http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
			response.Header().Set("Content-Type", "application/json")
			if status == 200 {
				io.Copy(io.Discard, request.Body)
				response.Write([]byte(`{"id":"m_1"}`))
				return
			}
			response.WriteHeader(status)
			response.Write([]byte(`{"code":1,"message":"No."}`))
		}),
	}
	server.Serve(listener)
}
