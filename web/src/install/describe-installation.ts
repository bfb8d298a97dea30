// How each browser installs an app, where it makes no offer of its own.

export function describeInstallation(
  { userAgent, maxTouchPoints }: Pick<Navigator, "userAgent" | "maxTouchPoints">,
  isSecure: boolean,
): string {
  // An iPad says that it is a Mac.
  if (/iPhone|iPad/.test(userAgent) || (/Macintosh/.test(userAgent) && maxTouchPoints > 1))
    return "Open this page in Safari, tap Share, then Add to Home Screen. Push messages work there, too.";
  if (!isSecure)
    return "Browsers install apps only from an https address, or on the computer that runs GSV. The guide on remote access says how to get one.";
  if (/Android/.test(userAgent)) return "Open the menu of your browser, then Install app or Add to Home screen.";
  if (/Macintosh/.test(userAgent) && !/Chrom/.test(userAgent)) return "In Safari, choose File, then Add to Dock.";
  if (/Firefox/.test(userAgent)) return "Firefox does not install apps on this system. Chrome, Edge and Safari do.";
  return "Look for Install in the address bar or the menu of your browser. If GSV is installed already, open it from there.";
}
