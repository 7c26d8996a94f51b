/** Mutual TLS between nodes, if the operator provides certificates; otherwise plain HTTP/2, authenticated only by the cluster token. */
import { type ChannelCredentials, credentials, ServerCredentials } from '@grpc/grpc-js';

/** PEM texts: the certificate of the authority that signed all nodes' certificates, this node's, and its private key. */
export type ClusterTls = { ca: string; cert: string; key: string };

export function serverCredentials(tls: ClusterTls | null): ServerCredentials {
  if (tls === null) return ServerCredentials.createInsecure();
  const pair = { cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) };
  return ServerCredentials.createSsl(Buffer.from(tls.ca), [pair], true);
}

/**
 * A certificate of the cluster's authority proves that the peer is a node; the handshake identifies which one. So the host name in the
 * certificate is not compared: nodes come and go under addresses that no certificate knows beforehand.
 */
export function dialCredentials(tls: ClusterTls | null): ChannelCredentials {
  if (tls === null) return credentials.createInsecure();
  return credentials.createSsl(Buffer.from(tls.ca), Buffer.from(tls.key), Buffer.from(tls.cert), { checkServerIdentity: () => undefined });
}
