/** The names of tags that are taken out as places although exiftool has them in another group, or does not know them. */
const locations = [
  /GPS/,
  /Latitude$|Longt?itude$|Altitude$|^Geotag/,
  /^(?:City2?|State|Landmark|Country(?:Code|Name)?|WorldRegion|Sub-?location|Province-?State|Coverage|Geography)$/,
  /^Country-PrimaryLocation(?:Code|Name)$|^ContentLocation(?:Code|Name)$/,
  /Location/,
  /^(?:RatingRegion|DC)(?:City|Country|CountryCode|CountryName|StateProvince|Locality)$/,
  /^DC(?:Continent|County|FootprintWKT|Island|Municipality|VerbatimCoordinates|WaterBody)$/,
  /^(?:MobileCountryCode|MobileNetworkCode|CellTowerID|EarthPos.*)$/,
  // What else is stored with a place in maker notes, and says nothing without it.
  /^(?:POILevel|TextEncoding|BarometerInfoVersion)$/,
];

/** Names that only sound so: places within a picture or a file, the clock's time zone, and settings. */
const others = [
  /^(?:Focus|Subject|Border|Window|Relative|Item|WorldTime|FocalPlaneAFPoint|ExtraTick)Locations?\d*$/,
  /^(?:GlobalAltitude|RecordLocationData|SetClockFromLocationData)$/,
];

/** The ends of the names that exiftool gives to XMP properties of namespaces that it does not know. */
const unknownXmp = /(?:City|State|Country(?:Code|Name)?|WorldRegion|Sublocation|Coverage)$/;

/** Whether a tag tells a place, by its name. */
export function isLocationTag(name: string, group = ''): boolean {
  if (group.startsWith('XMP-tmp') && unknownXmp.test(name)) return true;
  return locations.some(pattern => pattern.test(name)) && !others.some(pattern => pattern.test(name));
}

/** Tags that follow from the bytes of others: checksums, positions within the file, and its name and times. */
export function isDerivedTag(group: string, name: string): boolean {
  return (
    group === 'System' ||
    group === 'ExifTool' ||
    ['CurrentIPTCDigest', 'IPTCDigest', 'Warning', 'Error'].includes(name) ||
    /HasExt/.test(name)
  );
}
