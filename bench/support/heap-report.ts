/** Loaded into the service by the soak (`--import`): answers what the heap holds after a collection, which is what a leak shows in. */
process.on('message', (message: { heap?: true }) => {
  if (message.heap !== true) return;
  globalThis.gc!();
  process.send!({ heapBytes: process.memoryUsage().heapUsed });
});
