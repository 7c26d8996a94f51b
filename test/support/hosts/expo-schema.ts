/**
 * The part of the schema of Expo's service that the stand-in uses (packages/eas-cli/graphql.schema.json of expo/eas-cli,
 * 790231ea18f7).
 */
import type { Schema } from './graphql.ts';

export const expoSchema: Schema = {
  RootQuery: {
    meActor: 'Actor',
    app: 'AppQuery!',
    asset: 'AssetQuery!',
    updatesByGroup: ['[Update!]!', { group: 'ID!', platform: 'String' }],
  },
  RootMutation: {
    asset: 'AssetMutation!',
    updateBranch: 'UpdateBranchMutation!',
    updateChannel: 'UpdateChannelMutation!',
    update: 'UpdateMutation!',
  },
  Actor: { id: 'ID!', displayName: 'String!', accounts: '[Account!]!', isExpoAdmin: 'Boolean!' },
  Account: { id: 'ID!', name: 'String!' },
  AppQuery: { byId: ['App!', { appId: 'String!' }], byFullName: ['App!', { fullName: 'String!' }] },
  App: {
    ...{ id: 'ID!', slug: 'String!', fullName: 'String!', assetLimitPerUpdateGroup: 'Int!', ownerAccount: 'Account!' },
    updateBranchByName: ['UpdateBranch', { name: 'String!' }],
    updateChannelByName: ['UpdateChannel', { name: 'String!' }],
  },
  UpdateBranch: { id: 'ID!', name: 'String!', updateGroups: ['[[Update!]!]!', { limit: 'Int!', offset: 'Int!', filter: 'UpdatesFilter' }] },
  UpdateChannel: {
    id: 'ID!',
    name: 'String!',
    branchMapping: 'String!',
    updateBranches: ['[UpdateBranch!]!', { limit: 'Int!', offset: 'Int!' }],
  },
  Update: {
    id: 'ID!',
    group: 'String!',
    message: 'String',
    platform: 'String!',
    runtimeVersion: 'String!',
    manifestPermalink: 'String!',
    app: 'App!',
    branch: 'UpdateBranch!',
  },
  AssetQuery: { metadata: ['[AssetMetadataResult!]!', { storageKeys: '[String!]!' }] },
  AssetMetadataResult: { storageKey: 'String!', status: 'AssetMetadataStatus!' },
  AssetMutation: { getSignedAssetUploadSpecifications: ['GetSignedAssetUploadSpecificationsResult!', { assetContentTypes: '[String]!' }] },
  GetSignedAssetUploadSpecificationsResult: { specifications: '[String!]!' },
  UpdateBranchMutation: {
    createUpdateBranchForApp: ['UpdateBranch!', { appId: 'ID!', name: 'String!' }],
    publishUpdateGroups: ['[Update!]!', { publishUpdateGroupsInput: '[PublishUpdateGroupInput!]!' }],
  },
  UpdateChannelMutation: { createUpdateChannelForApp: ['UpdateChannel!', { appId: 'ID!', name: 'String!', branchMapping: 'String' }] },
  UpdateMutation: { scheduleUpdateGroupDeletion: ['BackgroundJobReceipt!', { group: 'ID!' }] },
  BackgroundJobReceipt: { id: 'ID!', state: 'BackgroundJobState!', errorMessage: 'String' },
};

/** Fields of inputs; `!` at the end: required. */
export const expoInputs = {
  PublishUpdateGroupInput: [
    'branchId!',
    'runtimeVersion!',
    'message',
    'awaitingCodeSigningInfo',
    'updateInfoGroup',
    'gitCommitHash',
    'environment',
  ],
  PartialManifest: ['launchAsset!', 'assets!', 'extra'],
  PartialManifestAsset: ['bundleKey!', 'contentType!', 'fileExtension', 'fileSHA256!', 'storageKey!'],
} as const;
