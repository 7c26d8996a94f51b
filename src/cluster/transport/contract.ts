/** The contract of `proto/cluster/v1/cluster.proto` as TypeScript, and the gRPC service made of it. */
import { fileURLToPath } from 'node:url';
import { loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** The protocols this version speaks, lowest and highest. Version N + 1 of the product still speaks what version N speaks. */
export type Protocols = { readonly lowest: number; readonly highest: number };
export const ownProtocols: Protocols = { lowest: 1, highest: 1 };

export type Hello = { lowestProtocol: number; highestProtocol: number; from: string; to: string; nonce: Buffer };
export type Challenge = { protocol: number; nonce: Buffer };
export type RefusalReason = 'REASON_UNSPECIFIED' | 'PROTOCOL' | 'NOT_AUTHENTIC' | 'OTHER_INCARNATION' | 'DUPLICATE' | 'CLOSING';

/** One message of the stream: exactly one of its fields is there. */
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

/** Makes clients, and holds the definition that a server is given. */
export const ClusterService: ServiceClientConstructor = loaded.troupe.cluster.v1.Cluster;

/** What a batch is cut into pieces of. */
export const maxPieceBytes = 256 * 1024;

/** For both ends. The stream never ends by itself, so nothing of it may be kept for a retry, and no proxy of the environment stands between. */
export const channelOptions = {
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_channelz': 0,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.service_config_disable_resolution': 1,
  'grpc.max_receive_message_length': 2 * maxPieceBytes,
  'grpc.max_send_message_length': 2 * maxPieceBytes,
  'grpc.max_concurrent_streams': 4,
  // Names of hosts are not compared (see credentials.ts), and an address is no name that TLS could ask for.
  'grpc.ssl_target_name_override': 'cluster',
  'grpc-node.flow_control_window': 4 * 1024 * 1024,
} as const;
