# A cache that gives up early on its origin; @NAMES@ are filled in by peers.ts.
vcl 4.1;
backend default {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
  .first_byte_timeout = 1s;
}
sub vcl_recv {
  return (pass);
}
