/** The types of /graphql. Fields of mutations may be null, so that one failure does not hide the other results. */
export const schemaText = `
type Query {
  "The owner of the API key of the request."
  viewer: Viewer!
  "One image or video; null if no image or video has this ID."
  media("As in its media record." id: ID!): Media
  "All images and videos, newest first."
  mediaList(
    "At most 1000."
    first: Int! = 20
    "Only items after this cursor."
    after: String
  ): MediaConnection!
}

"Needs a key with the permission \\"graphql\\"."
type Mutation {
  "Deletes an image or a video; returns its ID."
  deleteMedia("As in its media record." id: ID!): ID
  "Changes the name on the profile page."
  updateProfile("One line of at most 100 characters." name: String!): Viewer
  "Creates an API key with permissions of the key of the request; it expires no later than that one."
  createApiKey(
    "What the key is for: one line of at most 100 characters."
    name: String!
    "At least one."
    permissions: [Permission!]!
    "From 1 to 3650. Without it, the key expires when the key of the request does."
    expiresInDays: Int
  ): CreatedKey
  "Revokes an API key; returns its ID."
  revokeApiKey("As in the list of API keys." id: ID!): ID
}

"An uploaded image or video. What cannot be read from its bytes is null."
type Media {
  "Unique in this service."
  id: ID!
  "Whether it is an image or a video."
  type: MediaType!
  "Where the file can be read without a key."
  urls: [MediaUrl!]!
  "Coded width in pixels, before any rotation."
  width: Int
  "Coded height in pixels, before any rotation."
  height: Int
  "The format of an image, e.g. png."
  imageType: String
  "The file."
  fileUrl: String!
  "The length of a video, in seconds."
  duration: Float
  "A WebP of at most 320 pixels."
  thumbnailUrl: String
  "The HLS playlist of a video."
  hlsUrl: String
  "Bytes; a whole number, beyond the range of Int."
  size: Float!
  "The media type that the upload declared."
  contentType: String!
  "The SHA-256 of the file, in hexadecimal digits."
  sha256: String!
  "When it was stored: ISO 8601, UTC."
  createdAt: String!
}

"What a file is."
enum MediaType {
  "A picture, moving or not."
  IMAGE
  "A video."
  VIDEO
}

"A URL of an image or a video."
type MediaUrl {
  "Which form of the file it leads to."
  variant: MediaUrlVariant!
  "Absolute."
  url: String!
}

"A form of a file."
enum MediaUrlVariant {
  "The file as it was uploaded, for anybody."
  PUBLIC
}

"A page of the list, as a connection of the GraphQL Cursor Connections specification."
type MediaConnection {
  "The media of this page, with their cursors."
  edges: [MediaEdge!]!
  "The nodes of the edges."
  nodes: [Media!]!
  "Where this page is in the list."
  pageInfo: PageInfo!
  "How many media there are on all pages."
  totalCount: Int!
}

"An item of a page."
type MediaEdge {
  "Its place in the list, for the argument \\"after\\"."
  cursor: String!
  "The image or video itself."
  node: Media!
}

"Where a page is in its list."
type PageInfo {
  "Whether there are older media."
  hasNextPage: Boolean!
  "Whether there are newer media."
  hasPreviousPage: Boolean!
  "The cursor of the first item; null on an empty page."
  startCursor: String
  "The cursor of the last item; null on an empty page."
  endCursor: String
}

"The owner of an API key."
type Viewer {
  "The same for all keys of an owner."
  id: ID!
  "The name on the profile page, or without one that of the key."
  name: String!
  "Always null: this service knows no e-mail addresses."
  email: String
  "The permissions of the API key: upload, read, graphql."
  permissions: [String!]!
  "All API keys that are stored, oldest first."
  apiKeys: [ApiKey!]!
}

"An API key, without the key itself."
type ApiKey {
  "Reveals nothing about the key."
  id: ID!
  "What the key is for."
  name: String
  "Its last characters, as media whoami shows them."
  masked: String
  "What it may do."
  permissions: [Permission!]!
  "ISO 8601, UTC."
  createdAt: String!
  "ISO 8601, UTC; null if it never expires."
  expiresAt: String
  "ISO 8601, UTC, to the minute; null if it was never used."
  lastUsedAt: String
}

"What an API key may do."
enum Permission {
  "Uploads."
  UPLOAD
  "Queries."
  READ
  "Queries and mutations."
  GRAPHQL
}

"An API key that was just created."
type CreatedKey {
  "The key itself, which is shown only here."
  key: String!
  "What is known of it later."
  apiKey: ApiKey!
}
`;
