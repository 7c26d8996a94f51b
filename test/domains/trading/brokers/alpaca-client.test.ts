/**
 * Alpaca's own client passes the scenario of our adapter with the same test server: so an error in our reading of the protocol fails a
 * test.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Alpaca, streaming } from '@alpacahq/alpaca-trade-api';
import { AlpacaServer, alpacaKeys } from '../../../support/alpaca-server.ts';

test("alpaca's own client places, finds, fills, lists and cancels an order at the test server, and gets its updates in binary frames", async () => {
  const server = await new AlpacaServer().start();
  const { apiKey: keyId, apiSecret: secret } = alpacaKeys;
  // It has no setting for the host of the trading API.
  const fetchApi: typeof fetch = (address, init) => fetch(String(address).replace('https://paper-api.alpaca.markets', server.url), init);
  const { trading } = new Alpaca({ keyId, secret, paper: true, retry: false, rateLimit: false, fetchApi });
  const stream = new streaming.TradingStream({ credentials: { keyId, secret }, url: `${server.url.replace('http', 'ws')}/stream` });
  try {
    const received: string[] = [];
    const subscribed = new Promise<void>((resolve) => stream.on(streaming.EVENT.SUBSCRIPTION, () => resolve()));
    const filled = new Promise<void>((resolve) =>
      stream.onTradeUpdate(({ event, order }) => {
        received.push(`${event} ${order.clientOrderId}`);
        resolve();
      }),
    );
    stream.subscribeTradeUpdates();
    stream.connect();
    await subscribed;
    const order = await trading.orders.limit({ symbol: 'AAPL', qty: 3, side: 'buy', limitPrice: 101.5, clientOrderId: 'ord_client' });
    assert.deepEqual([order.status, order.qty, order.limitPrice], ['new', '3', '101.5']);
    await assert.rejects(trading.orders.limit({ symbol: 'AAPL', qty: 3, side: 'buy', limitPrice: 101.5, clientOrderId: 'ord_client' }), {
      status: 422,
      code: 40010001,
    });
    assert.equal((await trading.orders.getOrderByClientOrderId({ clientOrderId: 'ord_client' })).id, order.id);
    server.fill(server.orders[0]!, 1, 100);
    await filled;
    assert.deepEqual(received, ['partial_fill ord_client']);
    const [fill] = await trading.accountActivities.getAccountActivitiesByActivityType({ activityType: 'FILL' });
    // It reads every activity as one that is not a trade, so price and order are lost.
    assert.deepEqual([fill!.activityType, fill!.qty, (fill as { symbol?: string }).symbol], ['FILL', '1', 'AAPL']);
    assert.deepEqual(
      (await trading.positions.getAllOpenPositions()).map(({ symbol, qty }) => [symbol, qty]),
      [['AAPL', '1']],
    );
    assert.equal((await trading.account.getAccount()).cash, '100000');
    await trading.orders.deleteOrderByOrderID({ orderId: order.id! });
    assert.equal((await trading.orders.getOrderByOrderID({ orderId: order.id! })).status, 'canceled');
  } finally {
    stream.disconnect();
    await server.stop();
  }
});
