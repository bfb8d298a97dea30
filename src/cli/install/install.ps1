# Installs the gsv command from a gateway, for the current user and without administrator rights. With -Device it also
# stores what this machine needs to be a device of that gateway. Safe to run again.
#
#   irm @GSV_ORIGIN@/downloads/cli/install.ps1 | iex
#   $env:GSV_DEVICE_TOKEN='...'; & ([scriptblock]::Create((irm @GSV_ORIGIN@/downloads/cli/install.ps1))) -Device laptop -User alice
#
# INSTALL_DIR is where it goes (default: %LOCALAPPDATA%\gsv).

param([string]$Device = '', [string]$User = '', [string]$Workspace = '')

$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$origin = '@GSV_ORIGIN@'
$nodeMajor = 20
# The library for terminals is native code; without it everything else works.
$terminal = '@lydell/node-pty@1.1.0'

function Install-Gsv {
  if ($Device -and -not $User) { throw 'gsv: The owner of the device is not known: add -User NAME' }
  if ($Device -and -not $env:GSV_DEVICE_TOKEN) { throw "gsv: The device needs a token: create one with gsv token create --device $Device and set it as GSV_DEVICE_TOKEN" }
  $node = Get-Command node -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
  if (-not $node) { throw "gsv: Node.js $nodeMajor or newer is required but not installed: install it from https://nodejs.org, then run this again" }
  $version = & $node.Source --version
  if ([int]($version.TrimStart('v').Split('.')[0]) -lt $nodeMajor) {
    throw "gsv: Node.js $nodeMajor or newer is required, but this is ${version}: install a newer one, then run this again"
  }
  $folder = if ($env:INSTALL_DIR) { $env:INSTALL_DIR } elseif ($env:GSV_INSTALL_DIR) { $env:GSV_INSTALL_DIR } else { Join-Path $env:LOCALAPPDATA 'gsv' }
  New-Item -ItemType Directory -Force -Path $folder | Out-Null
  $fetched = Join-Path $folder 'gsv.mjs.new'
  $from = "$origin/downloads/cli/latest/gsv.mjs"
  Invoke-WebRequest -UseBasicParsing -Uri $from -OutFile $fetched
  $sum = (Invoke-WebRequest -UseBasicParsing -Uri "$from.sha256").Content
  if ($sum -is [byte[]]) { $sum = [Text.Encoding]::ASCII.GetString($sum) }
  $wanted = $sum.Trim().Split(' ')[0]
  if ((Get-FileHash -Algorithm SHA256 -Path $fetched).Hash -ne $wanted) {
    Remove-Item $fetched
    throw "gsv: The download from $origin does not match its checksum, so nothing was installed. Run this again; if it keeps failing, a proxy or cache may be altering downloads"
  }
  Move-Item -Force $fetched (Join-Path $folder 'gsv.mjs')
  $command = Join-Path $folder 'gsv.cmd'
  Set-Content -Encoding ASCII -Path $command -Value "@node `"%~dp0gsv.mjs`" %*"
  Add-Terminal $folder
  Write-Output "Installed gsv $(& $command version) as $command"
  if (($env:PATH -split ';') -notcontains $folder) {
    Write-Output "$folder is not on your PATH. Add it in the Windows settings, under the environment variables of your account."
  }
  if ($Device) {
    $arguments = @('--url', $origin, '--user', $User, 'device', 'install', '--id', $Device)
    if ($Workspace) { $arguments += @('--workspace', $Workspace) }
    & $command @arguments
  }
  else { Write-Output "Next: gsv --url $origin auth login" }
}

function Add-Terminal([string]$folder) {
  $npm = Get-Command npm -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
  if ($npm) {
    & $npm.Source install --prefix $folder --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --silent --fetch-retries=0 --fetch-timeout=20000 $terminal 2>&1 | Out-Null
    if ($LASTEXITCODE -eq 0) { return }
  }
  Write-Output "The terminal library ($terminal) could not be installed with npm, so full-screen programs will not work on this device"
}

Install-Gsv
