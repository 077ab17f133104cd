/** The types of /graphql. The fields of a mutation may be null, so that one that fails does not hide what the others did. */
export const schemaText = `
type Query {
  viewer: Viewer!
  media(id: ID!): Media
  "Newest first."
  mediaList(
    "At most 1000."
    first: Int! = 20
    "Only items after this cursor."
    after: String
  ): MediaConnection!
}

type Mutation {
  "Deletes an image or a video; returns its ID."
  deleteMedia(id: ID!): ID
  updateProfile(name: String!): Viewer
  "Creates an API key with permissions of the key of the request; it expires no later than that one."
  createApiKey(
    name: String!
    permissions: [Permission!]!
    "Without it, the key expires when the key of the request does."
    expiresInDays: Int
  ): CreatedKey
  "Revokes an API key; returns its ID."
  revokeApiKey(id: ID!): ID
}

"An uploaded image or video. What cannot be read from its bytes is null."
type Media {
  id: ID!
  type: MediaType!
  urls: [MediaUrl!]!
  "Coded width in pixels, before any rotation."
  width: Int
  "Coded height in pixels, before any rotation."
  height: Int
  "The format of an image, e.g. png."
  imageType: String
  fileUrl: String!
  "Seconds."
  duration: Float
  thumbnailUrl: String
  hlsUrl: String
  "Bytes; a whole number, beyond the range of Int."
  size: Float!
}

enum MediaType { IMAGE VIDEO }

type MediaUrl {
  variant: MediaUrlVariant!
  url: String!
}

enum MediaUrlVariant { PUBLIC }

"A page of the list, as a connection of the GraphQL Cursor Connections specification."
type MediaConnection {
  edges: [MediaEdge!]!
  "The nodes of the edges."
  nodes: [Media!]!
  pageInfo: PageInfo!
  "How many media there are on all pages."
  totalCount: Int!
}

type MediaEdge {
  cursor: String!
  node: Media!
}

type PageInfo {
  hasNextPage: Boolean!
  hasPreviousPage: Boolean!
  startCursor: String
  endCursor: String
}

"The owner of the API key of the request."
type Viewer {
  id: ID!
  name: String!
  email: String
  "The permissions of the API key."
  permissions: [String!]!
  apiKeys: [ApiKey!]!
}

type ApiKey {
  id: ID!
  name: String
  "The beginning of the key."
  prefix: String
  permissions: [Permission!]!
  "ISO 8601, UTC."
  createdAt: String!
  expiresAt: String
  "To the minute."
  lastUsedAt: String
}

enum Permission {
  "Uploads."
  UPLOAD
  "Queries."
  READ
  "Queries and mutations."
  GRAPHQL
}

type CreatedKey {
  "The key itself, which is shown only here."
  key: String!
  apiKey: ApiKey!
}
`;
