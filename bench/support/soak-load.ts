/** What the soak asks of the service: one customer's requests at a steady rate, tasks, and sockets that check that no event is missing. */
import { once } from 'node:events';
import { Customer } from './customer.ts';
import { percentile } from './statistics.ts';

const maxInFlight = 64;
const socketCount = 20;

/** At most 64 requests are open at a time; what is due and has no room is sent later. */
export class SoakLoad {
  readonly failures: string[] = [];
  missedEvents = 0;
  tasks = 0;
  events = 0;
  private sent = 0;
  private inFlight = 0;
  private latenciesMs: number[] = [];
  private readonly running = new Set<Promise<unknown>>();
  private readonly sockets: WebSocket[] = [];
  private readonly customer: Customer;
  private readonly workspaceId: string;
  private readonly taskId: string;
  private closing = false;

  private constructor(customer: Customer, workspaceId: string, taskId: string) {
    this.customer = customer;
    this.workspaceId = workspaceId;
    this.taskId = taskId;
  }

  static async open(url: string): Promise<SoakLoad> {
    const customer = await Customer.register(url, 'soak@example.com');
    const workspaceId = await customer.workspaceWithTable('soak');
    const { id } = await customer.finishedTask(workspaceId);
    const load = new SoakLoad(customer, workspaceId, id);
    for (let i = 0; i < socketCount; i++) await load.watch(url);
    return load;
  }

  /** Sends what is due, as far as there is room; what had no room stays due. */
  catchUp(due: number): void {
    while (this.sent < due && this.inFlight < maxInFlight) this.send(this.sent++);
  }

  startTask(): void {
    this.tasks++;
    this.track(this.customer.finishedTask(this.workspaceId));
  }

  takeLatencies(): { p50Ms: number; p99Ms: number; requests: number } {
    const taken = this.latenciesMs;
    this.latenciesMs = [];
    return { p50Ms: percentile(taken, 0.5), p99Ms: percentile(taken, 0.99), requests: taken.length };
  }

  async close(): Promise<void> {
    await Promise.all(this.running);
    this.closing = true;
    for (const socket of this.sockets) socket.close();
  }

  private send(n: number): void {
    this.inFlight++;
    const beganMs = performance.now();
    const done = this.request(n).then(
      () => this.latenciesMs.push(performance.now() - beganMs),
      (error: Error) => this.failed(error),
    );
    this.track(done.finally(() => this.inFlight--));
  }

  /** Of twenty requests sixteen read a task, two read a list, one reads its history, and one uploads a file, which commits. */
  private request(n: number): Promise<unknown> {
    const { customer } = this;
    if (n % 20 === 0) return customer.upload(this.workspaceId, 'notes.txt', `note ${n}\n`.repeat(50));
    if (n % 20 === 1) return customer.get(`/v1/tasks/${this.taskId}/events?limit=20`);
    return customer.get(n % 10 === 5 ? '/v1/tasks?limit=20' : `/v1/tasks/${this.taskId}`);
  }

  private track(work: Promise<unknown>): void {
    const tracked = work.catch((error: Error) => this.failed(error)).finally(() => this.running.delete(tracked));
    this.running.add(tracked);
  }

  private failed(error: Error): void {
    this.failures.push(error.message);
  }

  private async watch(url: string): Promise<void> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`);
    let newest = -1;
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'auth', token: this.customer.token }));
    const answered = once(socket, 'message');
    socket.addEventListener('message', ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.type === 'auth_ok') newest = frame.seq;
      if (frame.type !== 'event') return;
      this.events++;
      if (frame.prev !== newest || frame.event.seq !== newest + 1) this.missedEvents++;
      newest = frame.event.seq;
    });
    socket.addEventListener('close', ({ code }) => this.closing || this.failures.push(`a socket was closed with ${code}`));
    await answered;
    this.sockets.push(socket);
  }
}
