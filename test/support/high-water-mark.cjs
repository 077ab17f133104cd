// Loaded before the program: gives every socket that it opens the high-water mark of SOCKET_MARK.
const mark = Number(process.env.SOCKET_MARK);
for (const module of [require('node:net'), require('node:tls')]) {
  const {connect} = module;
  module.connect = (options, ...others) => connect({...options, highWaterMark: mark}, ...others);
}
