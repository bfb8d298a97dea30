// Search for time zones by the names of cities.

export type Zone = { name: string; city: string };

/** Large cities that are not the name of a time zone. */
const CITIES: Readonly<Record<string, string>> = {
  Munich: "Europe/Berlin",
  Hamburg: "Europe/Berlin",
  Frankfurt: "Europe/Berlin",
  Cologne: "Europe/Berlin",
  Geneva: "Europe/Zurich",
  Barcelona: "Europe/Madrid",
  Milan: "Europe/Rome",
  Lyon: "Europe/Paris",
  Manchester: "Europe/London",
  Edinburgh: "Europe/London",
  Porto: "Europe/Lisbon",
  Rotterdam: "Europe/Amsterdam",
  Gothenburg: "Europe/Stockholm",
  "Saint Petersburg": "Europe/Moscow",
  Boston: "America/New_York",
  Washington: "America/New_York",
  Philadelphia: "America/New_York",
  Atlanta: "America/New_York",
  Miami: "America/New_York",
  Houston: "America/Chicago",
  Dallas: "America/Chicago",
  Austin: "America/Chicago",
  "San Francisco": "America/Los_Angeles",
  "San Diego": "America/Los_Angeles",
  Seattle: "America/Los_Angeles",
  Portland: "America/Los_Angeles",
  "Las Vegas": "America/Los_Angeles",
  "Salt Lake City": "America/Denver",
  Montreal: "America/Toronto",
  Ottawa: "America/Toronto",
  Calgary: "America/Edmonton",
  "Rio de Janeiro": "America/Sao_Paulo",
  Brasilia: "America/Sao_Paulo",
  Beijing: "Asia/Shanghai",
  Shenzhen: "Asia/Shanghai",
  Mumbai: "Asia/Kolkata",
  Delhi: "Asia/Kolkata",
  Bengaluru: "Asia/Kolkata",
  Chennai: "Asia/Kolkata",
  Kyiv: "Europe/Kyiv",
  Osaka: "Asia/Tokyo",
  Hanoi: "Asia/Bangkok",
  "Abu Dhabi": "Asia/Dubai",
  "Tel Aviv": "Asia/Jerusalem",
  "Cape Town": "Africa/Johannesburg",
  Canberra: "Australia/Sydney",
};

const RESULTS_MAX = 8;

export function findZones(typed: string): Zone[] {
  const query = normalize(typed);
  if (query === "") return [];
  const begins = listZones().filter(({ city, name }) => normalize(city).startsWith(query) || normalize(name).startsWith(query));
  const within = listZones().filter((zone) => !begins.includes(zone) && normalize(`${zone.city} ${zone.name}`).includes(query));
  return [...begins, ...within].slice(0, RESULTS_MAX);
}

/** The current time in a zone, by which people recognize it. */
export function formatTimeIn(zone: string, now: number): string {
  try {
    return new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit", weekday: "short" }).format(now);
  } catch {
    return "";
  }
}

export function cityOf(zone: string): string {
  return zone.slice(zone.lastIndexOf("/") + 1).replaceAll("_", " ");
}

let cachedZones: Zone[] | null = null;

function listZones(): Zone[] {
  cachedZones ??= [
    ...Intl.supportedValuesOf("timeZone").map((name) => ({ name, city: cityOf(name) })),
    ...Object.entries(CITIES).map(([city, name]) => ({ name, city })),
    { name: "UTC", city: "UTC" },
  ];
  return cachedZones;
}

function normalize(text: string): string {
  return text
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[_/-]+/g, " ")
    .trim()
    .toLowerCase();
}
