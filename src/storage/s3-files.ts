/** Files in an S3-compatible bucket. The client library is loaded when this store is opened. */
import { pipeline, type Readable } from 'node:stream';
import type { GetObjectCommandInput } from '@aws-sdk/client-s3';
import { AppError } from '../errors.ts';
import { checkedKey } from './file-key.ts';
import { writeProbe } from './file-probe.ts';
import type { FileStore, StoredContent } from './files.ts';
import { Measure } from './measure.ts';

/** Two parts of this size are in memory for one upload: the one being filled and the one being sent. */
const partBytes = 5 * 2 ** 20;
const maxAttempts = 3;
const requestTimeoutMs = 60_000;
const connectTimeoutMs = 5_000;

export type S3Address = { endpoint: string; bucket: string; accessKeyId: string; secretAccessKey: string; region: string };

/**
 * Parses `s3://key:secret@host:port/bucket`. Uses http for loopback hosts and https for others, unless `?tls=0` or `?tls=1` is given;
 * `?region=` if the service needs one. Its errors do not contain the secret.
 */
export function parseS3Url(text: string): S3Address {
  const url = URL.canParse(text) ? new URL(text) : null;
  const bucket = url?.pathname.slice(1) ?? '';
  if (
    url === null ||
    url.protocol !== 's3:' ||
    url.username === '' ||
    url.password === '' ||
    url.hostname === '' ||
    !/^[a-z0-9.-]+$/.test(bucket)
  ) {
    throw new Error('S3_URL must be like s3://key:secret@host:port/bucket');
  }
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  const tls = url.searchParams.get('tls') ?? (isLoopback ? '0' : '1');
  return {
    endpoint: `${tls === '0' ? 'http' : 'https'}://${url.host}`,
    bucket,
    accessKeyId: decodeURIComponent(url.username),
    secretAccessKey: decodeURIComponent(url.password),
    region: url.searchParams.get('region') ?? 'us-east-1',
  };
}

/** Opens the store without a request to the service. */
export async function openS3Files(address: S3Address): Promise<FileStore> {
  const [s3, { Upload }, { getSignedUrl }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/lib-storage'),
    import('@aws-sdk/s3-request-presigner'),
  ]);
  const { bucket: Bucket, endpoint, region, accessKeyId, secretAccessKey } = address;
  const client = new s3.S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts,
    requestHandler: { requestTimeout: requestTimeoutMs, connectionTimeout: connectTimeoutMs, throwOnRequestTimeout: true },
    // Some S3-compatible services refuse the checksums that newer clients add by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });

  const store: FileStore = {
    async put(key, content, maxBytes) {
      const Key = checkedKey(key);
      const measure = new Measure(maxBytes);
      const upload = new Upload({
        client,
        params: { Bucket, Key, Body: measure },
        partSize: partBytes,
        queueSize: 1,
        leavePartsOnError: false,
      });
      // Errors pass in both directions: content that fails ends the upload, a failed upload stops the content. Reported once, below.
      pipeline(content, measure, () => {});
      try {
        await upload.done();
        return measure.result();
      } catch (error) {
        const failure = content.errored ?? measure.errored;
        measure.destroy();
        throw failure ?? unavailable(error);
      }
    },

    async open(key, range): Promise<Readable> {
      const input: GetObjectCommandInput = { Bucket, Key: checkedKey(key) };
      if (range !== undefined) input.Range = `bytes=${range.start}-${range.end}`;
      try {
        const { Body } = await client.send(new s3.GetObjectCommand(input));
        return Body as Readable;
      } catch (error) {
        throw isMissing(error) ? new AppError('not_found', 'Not Found', { cause: error }) : unavailable(error);
      }
    },

    async remove(key) {
      const Key = checkedKey(key);
      try {
        await client.send(new s3.DeleteObjectCommand({ Bucket, Key }));
      } catch (error) {
        if (!isMissing(error)) throw unavailable(error);
      }
    },

    async presignedUrl(key, { expiresInS, fileName, type }) {
      const command = new s3.GetObjectCommand({
        Bucket,
        Key: checkedKey(key),
        ResponseContentType: type,
        ResponseContentDisposition: `attachment; filename*=UTF-8''${encodeURIComponent(fileName.toWellFormed())}`,
      });
      return getSignedUrl(client, command, { expiresIn: expiresInS });
    },

    async *contents(): AsyncGenerator<StoredContent> {
      for (let ContinuationToken: string | undefined; ; ) {
        const page = await client.send(new s3.ListObjectsV2Command({ Bucket, ContinuationToken })).catch((error: unknown) => {
          throw unavailable(error);
        });
        for (const { Key, LastModified } of page.Contents ?? []) {
          if (Key !== undefined && LastModified !== undefined) yield { key: Key, modifiedAtMs: LastModified.getTime() };
        }
        if (page.IsTruncated !== true) return;
        ContinuationToken = page.NextContinuationToken;
      }
    },

    check: () => writeProbe(store),
  };
  return store;
}

function isMissing(error: unknown): boolean {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  return name === 'NoSuchKey' || name === 'NotFound' || $metadata?.httpStatusCode === 404;
}

function unavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'The file storage does not answer now', { cause });
}
