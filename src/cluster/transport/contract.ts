/** The contract of `proto/cluster/v1/cluster.proto` as TypeScript, and the gRPC service made of it. */
import { fileURLToPath } from 'node:url';
import { loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** The protocol versions of this release, lowest and highest. Version N + 1 of the product still supports the protocol of version N. */
export type Protocols = { readonly lowest: number; readonly highest: number };
export const ownProtocols: Protocols = { lowest: 1, highest: 1 };

export type Hello = { lowestProtocol: number; highestProtocol: number; from: string; to: string; nonce: Buffer };
export type Challenge = { protocol: number; nonce: Buffer };
export type RefusalReason = 'REASON_UNSPECIFIED' | 'PROTOCOL' | 'NOT_AUTHENTIC' | 'OTHER_INCARNATION' | 'DUPLICATE' | 'CLOSING';

/** One message of the stream: exactly one of its fields is set. */
export type Parcel = {
  hello?: Hello;
  challenge?: Challenge;
  proof?: { token: string };
  welcome?: { token: string };
  refusal?: { reason: RefusalReason; message: string };
  batch?: Buffer;
  piece?: Buffer;
};

const protoFile = fileURLToPath(new URL('../../../proto/cluster/v1/cluster.proto', import.meta.url));
const loaded = loadPackageDefinition(loadSync(protoFile, { enums: String, defaults: true, oneofs: false })) as any;

/** Makes clients, and contains the service definition for a server. */
export const ClusterService: ServiceClientConstructor = loaded.troupe.cluster.v1.Cluster;

/** A batch is cut into pieces of at most this size. */
export const maxPieceBytes = 256 * 1024;

/** For both ends. The stream has no natural end, so nothing is kept for a retry, and no proxy from the environment is used. */
export const channelOptions = {
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_channelz': 0,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.service_config_disable_resolution': 1,
  'grpc.max_receive_message_length': 2 * maxPieceBytes,
  'grpc.max_send_message_length': 2 * maxPieceBytes,
  'grpc.max_concurrent_streams': 4,
  // Host names are not compared (see credentials.ts), and an IP address is not a valid TLS server name.
  'grpc.ssl_target_name_override': 'cluster',
  'grpc-node.flow_control_window': 4 * 1024 * 1024,
} as const;
