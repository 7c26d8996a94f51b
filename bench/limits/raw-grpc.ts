/**
 * The limit of asking another process: one bidirectional stream of raw grpc-js, batched per tick. A batch is numbers and bytes, packed by hand
 * and handed to gRPC as it is; the other side sends each back under its number. Nothing is checked, bounded or parsed.
 */
import { Client, credentials, type handleBidiStreamingCall, Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import { drive } from '../support/drive.ts';
import { serveCalls } from '../support/program.ts';

const asIs = (bytes: Buffer): Buffer => bytes;
const path = '/bench.Raw/Connect';
const service: ServiceDefinition = {
  connect: {
    path,
    requestStream: true,
    responseStream: true,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  },
};
const headBytes = 8;

/** Entries of one tick: number, length, payload. */
class Batch {
  private bytes = Buffer.allocUnsafe(256 * 1024);
  private used = 0;
  private flushing = false;
  private readonly write: (batch: Buffer) => void;

  constructor(write: (batch: Buffer) => void) {
    this.write = write;
  }

  add(number: number, payload: Buffer): void {
    if (this.used + headBytes + payload.length > this.bytes.length) this.flush();
    this.bytes.writeUInt32LE(number, this.used);
    this.bytes.writeUInt32LE(payload.length, this.used + 4);
    payload.copy(this.bytes, this.used + headBytes);
    this.used += headBytes + payload.length;
    if (this.flushing) return;
    this.flushing = true;
    setImmediate(() => {
      this.flushing = false;
      this.flush();
    });
  }

  private flush(): void {
    if (this.used > 0) this.write(Buffer.from(this.bytes.subarray(0, this.used)));
    this.used = 0;
  }
}

function forEach(batch: Buffer, entry: (number: number, payload: Buffer) => void): void {
  for (let at = 0; at < batch.length; ) {
    const end = at + headBytes + batch.readUInt32LE(at + 4);
    entry(batch.readUInt32LE(at), batch.subarray(at + headBytes, end));
    at = end;
  }
}

const waiting = new Map<number, (payload: Buffer) => void>();
let lastNumber = 0;
let batch: Batch;

serveCalls({
  listen() {
    const server = new Server();
    const connect: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
      const answers = new Batch((bytes) => call.write(bytes));
      call.on('data', (bytes: Buffer) => forEach(bytes, (number, payload) => answers.add(number, payload)));
    };
    server.addService(service, { connect });
    return new Promise((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => (error ? reject(error) : resolve(port)));
    });
  },

  meet(port: number) {
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    const call = client.makeBidiStreamRequest(path, asIs, asIs);
    batch = new Batch((bytes) => call.write(bytes));
    call.on('data', (bytes: Buffer) =>
      forEach(bytes, (number, payload) => {
        waiting.get(number)!(payload);
        waiting.delete(number);
      }),
    );
  },

  ask({ inFlight, ms, input }: { inFlight: number; ms: number; input: unknown }) {
    // As many bytes as an ask of ours, on the way there and back.
    const payload = Buffer.from(JSON.stringify(['counter', 'c500', 'touch', input]));
    const ask = (): Promise<Buffer> =>
      new Promise((resolve) => {
        waiting.set(++lastNumber, resolve);
        batch.add(lastNumber, payload);
      });
    return drive(ask, inFlight, ms, false);
  },
});
