//! A server that answers before it has read a body, with the status of its first argument. Prints its port.
use hyper::service::{make_service_fn, service_fn};
use hyper::{Body, Response, Server};
use std::convert::Infallible;

#[tokio::main]
async fn main() {
    let status: u16 = std::env::args().nth(1).unwrap().parse().unwrap();
    let make = make_service_fn(move |_| async move {
        Ok::<_, Infallible>(service_fn(move |_| async move {
            Ok::<_, Infallible>(
                Response::builder()
                    .status(status)
                    .header("content-type", "application/json")
                    .body(Body::from(r#"{"code":1,"message":"No."}"#))
                    .unwrap(),
            )
        }))
    });
    let server = Server::bind(&([127, 0, 0, 1], 0).into()).serve(make);
    println!("{}", server.local_addr().port());
    server.await.unwrap();
}
