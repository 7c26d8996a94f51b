/** A gRPC stream with the same interface for the dialer and the acceptor. */
import { type ClientDuplexStream, type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { Parcel } from './contract.ts';

type Call = ClientDuplexStream<Parcel, Parcel> | ServerDuplexStream<Parcel, Parcel>;

export class Wire {
  /** Why the stream ended, for the log; null while it is open. */
  ended: string | null = null;
  /** Resolves when both sides have ended the stream, so the other side has read what was written; or when it was cut off. */
  readonly closed: Promise<void>;
  private readonly call: Call;
  private readonly dispose: () => void;
  private listener: ((parcel: Parcel) => void) | null = null;
  private onEnd: ((why: string) => void) | null = null;

  /** @param dispose called once when the stream has ended; either side may have ended it */
  constructor(call: Call, dispose: () => void) {
    this.call = call;
    this.dispose = dispose;
    call.pause();
    call.on('data', (parcel: Parcel) => this.listener?.(parcel));
    call.on('error', (error: Error) => this.finish(errorText(error)));
    call.on('end', () => {
      // Otherwise the stream would stay half open, with its connection.
      if (this.ended === null) call.end();
      this.finish('the other side closed the stream');
    });
    call.on('cancelled', () => this.finish('the stream was cut off'));
    this.closed = new Promise((resolve) => {
      call.on('close', () => {
        this.finish('the stream was closed');
        resolve();
      });
    });
  }

  /** The next parcel of a handshake, or null when the stream ends first. Later parcels wait. */
  next(): Promise<Parcel | null> {
    if (this.ended !== null) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.onEnd = () => resolve(null);
      this.listener = (parcel) => {
        this.call.pause();
        this.listener = null;
        resolve(parcel);
      };
      this.call.resume();
    });
  }

  /** From now on every parcel is passed on as it arrives. `onEnd` is called once; at once if the stream has already ended. */
  listen(listener: (parcel: Parcel) => void, onEnd: (why: string) => void): void {
    if (this.ended !== null) return onEnd(this.ended);
    this.listener = listener;
    this.onEnd = onEnd;
    this.call.resume();
  }

  /** Order is kept. Parcels written to an ended stream are lost. */
  write(parcel: Parcel): void {
    if (this.ended === null) this.call.write(parcel);
  }

  /** Sends what was written, and ends. */
  end(): void {
    if (this.ended !== null) return;
    this.call.end();
    this.finish('this side closed the stream');
  }

  /** Ends at once; written parcels may be lost. */
  cut(why: string): void {
    if (this.ended !== null) return;
    this.finish(why);
    if ('cancel' in this.call) this.call.cancel();
    // An acceptor of grpc-js ends a stream with a status, which this event sets.
    else this.call.emit('error', Object.assign(new Error(why), { code: status.ABORTED }));
  }

  private finish(why: string): void {
    if (this.ended !== null) return;
    this.ended = why;
    this.listener = null;
    // Read to the end, so that gRPC can release the stream.
    this.call.resume();
    const { onEnd } = this;
    this.onEnd = null;
    onEnd?.(why);
    this.dispose();
  }
}

/** The cause, extracted from gRPC's error. */
function errorText(error: Error & { details?: string }): string {
  const text = error.details || error.message;
  return /connect E[A-Z]+ \S+/.exec(text)?.[0] ?? text;
}
